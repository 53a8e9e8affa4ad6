import { escapes } from './suite.ts';

escapes(process.getuid?.() === 0 ? 'root in a workspace of root' : 'an ordinary user', undefined);
