export { withFileLock } from '../../kernel/file-lock.ts';
