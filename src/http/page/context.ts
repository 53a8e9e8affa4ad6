import type { Context } from 'hono';
import type { OperatorSession } from './sessions.ts';

/** What a request to the page carries once it was let in. */
export type Env = { Variables: { nonce: string; session: OperatorSession; form: FormData } };
export type Ctx = Context<Env>;
