import { fileURLToPath } from 'node:url';

/** The program as people use it, built. */
export const WRIT = fileURLToPath(new URL('../../../writ', import.meta.url));
