import type { Compilable } from 'kysely';
import type { Builder } from './schema.ts';

export type SqlValue = string | number | null | Uint8Array;

/** What a statement runs on: a connection (reads), or the transaction of a write. */
export interface Session {
  readonly db: Builder;
  all(sql: string, parameters: readonly SqlValue[]): unknown[];
  /** How many rows changed. */
  run(sql: string, parameters: readonly SqlValue[]): number;
}

export interface Statement<Params, Row> {
  all(session: Session, params: Params): Row[];
  /** The first row. */
  get(session: Session, params: Params): Row | undefined;
  /** How many rows changed. */
  run(session: Session, params: Params): number;
}

interface Template {
  readonly sql: string;
  /** Per `?`: the parameter that fills it, or a constant of the query. */
  readonly slots: readonly ({ readonly name: string } | { readonly value: SqlValue })[];
}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that is built and compiled once, at its first use, and afterwards only bound: building costs more than SQLite's own work on
 * the rows of the audit path. `build` sees placeholders instead of values, so it may pass `p.x` to Kysely and must not look inside.
 */
export function statement<Params extends Readonly<Record<string, SqlValue>>, Row = never>(
  build: (db: Builder, p: Params) => Compilable<Row>,
): Statement<Params, Row> {
  let template: Template | undefined;
  const compiled = (session: Session): Template => {
    template ??= compile(build(session.db, placeholders<Params>()));
    return template;
  };
  const bind = ({ slots }: Template, params: Params): SqlValue[] =>
    slots.map((slot) => ('name' in slot ? (params[slot.name] ?? null) : slot.value));
  const all = (session: Session, params: Params): Row[] => {
    const t = compiled(session);
    return session.all(t.sql, bind(t, params)) as Row[];
  };
  return {
    all,
    get: (session, params) => all(session, params)[0],
    run(session, params) {
      const t = compiled(session);
      return session.run(t.sql, bind(t, params));
    },
  };
}

function placeholders<Params>(): Params {
  return new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as Params;
}

function compile(query: Compilable<unknown>): Template {
  const { sql, parameters } = query.compile();
  return {
    sql,
    slots: parameters.map((value) => (value instanceof Placeholder ? { name: value.name } : { value: value as SqlValue })),
  };
}

/** For queries whose shape depends on their arguments (lists with filters). */
export function select<Row>(session: Session, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return session.all(sql, parameters as readonly SqlValue[]) as Row[];
}
