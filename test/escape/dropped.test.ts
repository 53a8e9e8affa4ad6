import { it } from 'vitest';
import { escapes } from './suite.ts';

// A file of its own, so that it runs beside the other. That the attempts are real is shown there.
if (process.getuid?.() === 0) escapes('root, dropped to the owner of the workspace', 65534, 'contained');
else it('is for root, who alone can become somebody else', () => {});
