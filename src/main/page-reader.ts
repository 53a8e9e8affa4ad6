/**
 * The program of the thread that reads one fetched page, a bundle entry of its own (dist/page-reader.js): what a page makes of the parser
 * must not keep anything else of this process waiting.
 */
import { readPageHere } from '../tools/index.ts';

await readPageHere();
