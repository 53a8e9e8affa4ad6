import { escapes } from './suite.ts';

// Where root has shown just before that the attempts are real, they are tried once more.
const show = process.env['WRIT_TEST_AGAIN'] === undefined ? 'all' : 'contained';
escapes(process.getuid?.() === 0 ? 'root in a workspace of root' : 'an ordinary user', undefined, show);
