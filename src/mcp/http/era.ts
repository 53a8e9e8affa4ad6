import type { IncomingHttpHeaders } from 'node:http';
import {
  failure,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type Incoming,
  isObject,
  type Members,
  type RpcError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../../kernel/json-rpc/message.ts';
import { decodeHeader, HEADER_MISMATCH, type ParamHeader, wrongParamHeader } from '../../kernel/json-rpc/param-headers.ts';
import { claimsVersion, META_CAPABILITIES, META_VERSION } from '../connection.ts';
import { featuresOf, isRevision, SUPPORTED_REVISIONS } from '../revisions.ts';

/** Which era a POST is of, and for 2026-07-28 whether its headers say what its body says. */

const MISSING_CAPABILITY = -32021;

/** `handshake`: what it means is said by the session it belongs to, or it begins one. */
export interface Era {
  readonly era: 'stateless' | 'handshake';
  /** It can't be served: 400. */
  readonly error?: RpcError;
}

/** Arguments that headers repeat, of the tool that a call names. */
type Mirrored = (tool: string) => readonly ParamHeader[];

const STATELESS: Era = { era: 'stateless' };
const HANDSHAKE: Era = { era: 'handshake' };

/** Errors that 2026-07-28 answers with 400, wherever they come from. */
export function isEraError(code: unknown): boolean {
  return code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_PROTOCOL_VERSION || code === INVALID_REQUEST;
}

/** What `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

/** The body decides: a header can be lost on the way, and must not change what a body means. */
export function eraOf(message: Incoming, headers: IncomingHttpHeaders, mirrored: Mirrored = () => []): Era {
  const header = text(headers['mcp-protocol-version']);
  const modern = header !== undefined && isRevision(header) && featuresOf(header).era === 'stateless';
  if (message.kind === 'request' || message.kind === 'notification') {
    const { params } = message;
    if (claimsVersion(params)) {
      return message.kind === 'request' ? checked(message.method, params, params['_meta'], headers, mirrored) : STATELESS;
    }
    if (modern && message.kind === 'request') return missing(message.method);
    if (modern) return STATELESS;
  }
  // An answer or an array is of the older revisions, whatever its header says; the session tells which one.
  if (modern) return refuse(HEADER_MISMATCH, `A body of this kind is not allowed in ${header}`);
  if (header === undefined || isRevision(header)) return HANDSHAKE;
  return unsupported(header);
}

function missing(method: string): Era {
  if (method === 'initialize') return refuse(HEADER_MISMATCH, 'Header mismatch: MCP-Protocol-Version names a revision without initialize');
  return refuse(INVALID_PARAMS, `The member params._meta["${META_VERSION}"] is missing`);
}

function checked(method: string, params: Members, meta: Members, headers: IncomingHttpHeaders, mirrored: Mirrored): Era {
  const version = meta[META_VERSION];
  if (typeof version !== 'string') return refuse(INVALID_PARAMS, `The member params._meta["${META_VERSION}"] must be a string`);
  if (!isObject(meta[META_CAPABILITIES]))
    return refuse(INVALID_PARAMS, `The member params._meta["${META_CAPABILITIES}"] must be an object`);
  const header = text(headers['mcp-protocol-version']);
  if (header !== undefined && header !== version) return mismatch('MCP-Protocol-Version', header, version);
  if (!isRevision(version) || featuresOf(version).era !== 'stateless') return unsupported(version);
  if (header === undefined) return lacking('MCP-Protocol-Version');
  const named = text(headers['mcp-method']);
  if (named === undefined) return lacking('Mcp-Method');
  if (named !== method) return mismatch('Mcp-Method', named, method);
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const name = member === undefined ? undefined : params[member];
  if (typeof name !== 'string') return STATELESS;
  const given = text(headers['mcp-name']);
  if (given === undefined) return lacking('Mcp-Name');
  if (decodeHeader(given) !== name) return mismatch('Mcp-Name', given, name);
  const wrong =
    method === 'tools/call' ? wrongParamHeader(mirrored(name), params['arguments'], (header) => text(headers[header])) : undefined;
  if (wrong === undefined) return STATELESS;
  return wrong.given === undefined ? lacking(wrong.header) : mismatch(wrong.header, wrong.given, wrong.body);
}

/** A repeated header comes as one text with commas, or, by node's types, as a list: neither is what a body says. */
function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header;
}

function refuse(code: number, message: string, data?: unknown): Era {
  return { era: 'stateless', ...failure(code, message, data) };
}

function lacking(header: string): Era {
  return refuse(HEADER_MISMATCH, `Header mismatch: the header ${header} is required`);
}

function mismatch(header: string, given: string, body: string): Era {
  return refuse(HEADER_MISMATCH, `Header mismatch: ${header} is '${cut(given)}' but the body says '${cut(body)}'`);
}

function unsupported(requested: string): Era {
  const data = { supported: SUPPORTED_REVISIONS, requested: cut(requested) };
  return refuse(UNSUPPORTED_PROTOCOL_VERSION, 'Unsupported protocol version', data);
}

function cut(value: string): string {
  return value.slice(0, 128).toWellFormed();
}
