import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../kernel/errors.ts';
import { createJson, readJson } from '../jobs/json-file.ts';

const pin = z.object({ image: z.string(), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/), at: z.int().nonnegative() });

/**
 * The first use of an image records its digest in the Writ home (`containers/`, one file an engine and name, written once); afterwards the
 * same name must mean the same content. A file that can't be read refuses: what was recorded is then not known.
 */
export function pinImage(home: string, image: string, digest: string, now: number): void {
  const folder = join(home, 'containers');
  const file = `image-${createHash('sha256').update(image).digest('hex').slice(0, 24)}.json`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (createJson(folder, file, { image, digest, at: now }, { durable: true })) return;
  const found = readJson(folder, file, pin);
  const path = join(folder, file);
  if (!found.ok) {
    throw new AppError('backend_unavailable', `The digest that the image ${image} was first used with can't be read: ${found.reason}.`, {
      fix: `Look at ${path}; without it the image of this moment is recorded.`,
    });
  }
  if (found.value.digest === digest) return;
  throw new AppError(
    'backend_unavailable',
    `The image ${image} is not the one that was first used: it was ${found.value.digest} and is ${digest} now.`,
    { fix: `If you changed it yourself, remove ${path}; if not, find out who did before anything runs in it.` },
  );
}
