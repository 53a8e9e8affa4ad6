import { AppError, errnoOf } from '../../kernel/errors.ts';

/** Why a file tool did nothing, for the record and for tests; the message says it to people. */
export type FileReason =
  | 'outside'
  | 'protected'
  | 'not_found'
  | 'folder'
  | 'not_a_file'
  | 'binary'
  | 'too_large'
  | 'permission'
  | 'changed'
  | 'marker'
  | 'encoding'
  | 'bad_pattern'
  | 'bad_args'
  | 'no_match'
  | 'not_unique'
  | 'no_change'
  | 'too_repetitive';

const CODES = {
  outside: 'file_refused',
  protected: 'denied_by_policy',
  not_found: 'file_refused',
  folder: 'file_refused',
  not_a_file: 'file_refused',
  binary: 'file_refused',
  too_large: 'file_refused',
  permission: 'file_refused',
  encoding: 'file_refused',
  changed: 'edit_failed',
  marker: 'edit_failed',
  no_match: 'edit_failed',
  not_unique: 'edit_failed',
  no_change: 'edit_failed',
  too_repetitive: 'edit_failed',
  bad_pattern: 'invalid_arguments',
  bad_args: 'invalid_arguments',
} as const satisfies Record<FileReason, string>;

export function fileError(reason: FileReason, message: string, fix?: string, data: Readonly<Record<string, unknown>> = {}): AppError {
  return new AppError(CODES[reason], message, { ...(fix === undefined ? {} : { fix }), data: { reason, ...data } });
}

/** The way changed between looking and opening: worth another look. */
export class Moved extends Error {
  override readonly name = 'Moved';
}

/** What the disk answered, in words about this path; anything else is passed on. */
export function diskError(thrown: unknown, path: string): unknown {
  switch (errnoOf(thrown)) {
    case 'ENOENT':
      return fileError('not_found', `${path} does not exist.`);
    case 'EACCES':
    case 'EPERM':
      return fileError('permission', `${path} can't be used: the user that runs are made as has no right to it.`);
    case 'EROFS':
      return fileError('permission', `${path} lies on a read-only file system.`);
    case 'EBUSY':
      return fileError('permission', `${path} can't be replaced: something is mounted there.`);
    case 'EISDIR':
    case 'ENOTDIR':
    case 'ENOTEMPTY':
    case 'EEXIST':
    case 'ELOOP':
      return fileError('changed', `${path} was changed by somebody else at the same moment.`, 'Look again.');
    case 'EMFILE':
    case 'ENFILE':
      return new AppError('busy', 'Too many files are open in this process.');
    case 'ENAMETOOLONG':
      return fileError('not_found', 'The path, or a name in it, is longer than a file system can hold.');
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError('disk_full', `No space is left on the disk that holds ${path}; it is as it was.`, {
        fix: 'Free some space there.',
      });
    default:
      return thrown;
  }
}
