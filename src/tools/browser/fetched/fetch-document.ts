import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { createConnector, type Guard, readOutwardUrl } from '../../../execution/index.ts';
import { AppError } from '../../../kernel/errors.ts';

/** As it came, redirects followed. */
export interface Fetched {
  readonly url: URL;
  readonly status: number;
  readonly kind: 'html' | 'text';
  readonly text: string;
  /** Bytes that were not read: the rest of a document that is too long. */
  readonly cut: boolean;
}

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_REDIRECTS = 10;
const HTML = /^(text\/html|application\/xhtml\+xml)$/;
const TEXT = /^(text\/.*|application\/(json|xml|javascript|.*\+json|.*\+xml))$/;
const UNPACK: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export interface FetchParts {
  readonly guard: Guard;
  /** Why an address must not be asked for; looked at for each redirect. */
  barred(url: string): Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** One document by GET, over connections that the guard makes. */
export async function fetchDocument(address: string, parts: FetchParts): Promise<Fetched> {
  const agent = new Agent({ connect: createConnector(parts.guard, parts.signal), connections: 1, pipelining: 1 });
  try {
    let next = await admitted(address, undefined, parts);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const response = await ask(agent, next, parts.signal);
      const location = one(response.headers['location']);
      if (response.statusCode < 300 || response.statusCode > 399 || location === undefined) return await read(next, response);
      response.body.destroy();
      next = await admitted(location, next, parts);
    }
    throw new AppError('page_failed', `The address led elsewhere more than ${MAX_REDIRECTS} times.`);
  } finally {
    await agent.destroy();
  }
}

async function admitted(address: string, base: URL | undefined, { barred }: FetchParts): Promise<URL> {
  const read = readOutwardUrl(address, base);
  const why = read.ok ? await barred(read.url.href) : read.reason;
  if (read.ok && why === undefined) return read.url;
  const shown = address.slice(0, 500);
  throw new AppError('denied_by_policy', `${base === undefined ? '' : 'The page led to '}${shown}, and that was not followed: ${why}.`, {
    fix: 'Call navigate with that address, if that is where you want to go.',
  });
}

async function ask(agent: Agent, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const headers = { accept: 'text/html,text/*;q=0.9,application/json;q=0.8', 'accept-encoding': 'gzip, br', 'user-agent': 'writ' };
  try {
    const response = await agent.request({ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', headers, signal });
    // It may be let go of, or break off, when nobody is reading it.
    response.body.on('error', () => undefined);
    return response;
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('page_failed', `The page could not be opened (${thrown instanceof Error ? thrown.message : String(thrown)}).`);
  }
}

async function read(url: URL, { statusCode, headers, body }: Dispatcher.ResponseData): Promise<Fetched> {
  const [type = '', ...more] = (one(headers['content-type']) ?? 'text/html').toLowerCase().split(';');
  const mime = type.trim();
  const attached = /^\s*attachment/i.test(one(headers['content-disposition']) ?? '');
  if (attached || !(HTML.test(mime) || TEXT.test(mime))) {
    body.destroy();
    throw new AppError('page_failed', `This address is a file to download (${mime.slice(0, 80)}), and downloads are refused.`);
  }
  const { bytes, cut } = await bounded(body);
  const plain = await unpacked(bytes, one(headers['content-encoding'])?.toLowerCase(), cut);
  const charset = more.map((part) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(part)?.[1]).find((found) => found !== undefined);
  return { url, status: statusCode, kind: HTML.test(mime) ? 'html' : 'text', text: decoded(plain, charset), cut };
}

async function bounded(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) {
      body.destroy();
      return { bytes: Buffer.concat(chunks).subarray(0, MAX_BYTES), cut: true };
    }
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

async function unpacked(bytes: Buffer, encoding: string | undefined, cut: boolean): Promise<Buffer> {
  if (encoding === undefined || encoding === 'identity') return bytes;
  const unpack = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding] : undefined;
  try {
    if (unpack !== undefined && !cut) return await unpack(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    // Broken, or far more than it looked like.
  }
  throw new AppError('page_failed', 'The page came packed in a way that can not be read here, or is too long.');
}

function decoded(bytes: Buffer, charset: string | undefined): string {
  const named = charset ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(bytes.subarray(0, 2048).toString('latin1'))?.[1];
  try {
    return new TextDecoder(named ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
