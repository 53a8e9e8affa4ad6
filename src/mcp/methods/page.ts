import { failure, INVALID_PARAMS, type Members, type Reply } from '../../kernel/json-rpc/message.ts';

/** More than any list has today; a client reads on with the cursor. */
const PAGE_SIZE = 200;

/** One page of a list as the result member `name`. The cursor is an index: lists are short-lived and in a fixed order. */
export function page(name: string, items: readonly unknown[], params: Members): Reply {
  const cursor = params['cursor'] ?? '';
  if (typeof cursor !== 'string' || !/^(\d{1,9})?$/.test(cursor)) return failure(INVALID_PARAMS, 'Invalid cursor');
  const from = Number(cursor);
  if (from > items.length) return failure(INVALID_PARAMS, 'Invalid cursor');
  const to = from + PAGE_SIZE;
  return { result: { [name]: items.slice(from, to), ...(to < items.length ? { nextCursor: String(to) } : {}) } };
}

/** What a client may keep: nothing, and for nobody else, since policy and time change every answer. Only the stateless era says so. */
export const CACHE = { ttlMs: 0, cacheScope: 'private' };
