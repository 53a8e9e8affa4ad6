import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout these scripts belong to, whatever the current folder is. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
