import { isObject } from '../../kernel/json-rpc/message.ts';
import type { Inner } from './schema-positions.ts';

export interface SchemaNode {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly inner: readonly Inner[];
}

/** What the schema would grow to if somebody put every definition in the place of its reference; recursive ones end where they come round. */
const MAX_EXPANDED = 200_000;

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

interface Edges {
  /** Schemas that judge the same value as this one. */
  readonly in_place: object[];
  /** All schemas that are part of this one when written out. */
  readonly parts: object[];
}

/**
 * Every reference must lead to a schema inside, and not only round in a circle: `a` that is `b` that is `a` never says anything, while a tree
 * whose children are trees does. Nothing remote is ever fetched.
 */
export function findReferenceProblem(root: Readonly<Record<string, unknown>>, nodes: ReadonlyMap<object, SchemaNode>): string | undefined {
  const anchors = new Map<string, object>();
  for (const { schema } of nodes.values()) {
    for (const name of [schema['$anchor'], schema['$dynamicAnchor'], idFragment(schema['$id'])])
      if (typeof name === 'string') anchors.set(name, schema);
  }
  const graph = new Map<object, Edges>();
  for (const { schema, path, inner } of nodes.values()) {
    const edges: Edges = { in_place: [], parts: [] };
    for (const { schema: part, in_place, shelf } of inner) {
      if (!isObject(part) || shelf) continue;
      edges.parts.push(part);
      if (in_place) edges.in_place.push(part);
    }
    for (const keyword of REFERENCES) {
      const reference = schema[keyword];
      if (typeof reference !== 'string') continue;
      const target = resolve(reference, root, anchors);
      if (target === 'remote') return `refers to something outside itself (${shown(reference)}) at ${path}, which is never fetched`;
      if (typeof target === 'boolean') continue;
      if (!isObject(target) || !nodes.has(target)) return `refers to ${shown(reference)} at ${path}, where there is no schema`;
      edges.parts.push(target);
      edges.in_place.push(target);
    }
    graph.set(schema, edges);
  }
  const circle = findCircle(graph);
  if (circle !== undefined) return `has a reference at ${nodes.get(circle)?.path ?? '#'} that leads only back to itself`;
  if (expandedSize(root, graph) > MAX_EXPANDED) return `would have more than ${MAX_EXPANDED} parts with its references written out`;
  return undefined;
}

function resolve(reference: string, root: Readonly<Record<string, unknown>>, anchors: ReadonlyMap<string, object>): unknown {
  const [base = '', ...rest] = reference.split('#');
  if (base !== '' && base !== root['$id']) return 'remote';
  const fragment = decode(rest.join('#'));
  if (fragment === undefined) return undefined;
  if (fragment === '') return root;
  if (!fragment.startsWith('/')) return anchors.get(fragment);
  let at: unknown = root;
  for (const part of fragment.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null) return undefined;
    // What it inherits is no schema of ours, and refused as such.
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // A broken percent escape: it leads nowhere.
    return undefined;
  }
}

/** draft-07 spells an anchor `$id: "#name"`. */
function idFragment(id: unknown): string | undefined {
  return typeof id === 'string' && id.startsWith('#') ? id.slice(1) : undefined;
}

/** A schema that judges a value by judging the same value by itself. Depth first, with a stack of our own: chains may be long. */
function findCircle(graph: ReadonlyMap<object, Edges>): object | undefined {
  const state = new Map<object, 'open' | 'done'>();
  for (const start of graph.keys()) {
    const stack = [{ node: start, next: 0 }];
    if (state.has(start)) continue;
    state.set(start, 'open');
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const child = graph.get(top.node)?.in_place[top.next++];
      if (child === undefined) {
        state.set(top.node, 'done');
        stack.pop();
      } else if (state.get(child) === 'open') return child;
      else if (state.get(child) === undefined) {
        state.set(child, 'open');
        stack.push({ node: child, next: 0 });
      }
    }
  }
  return undefined;
}

/** Counted once for each schema and added up, so counting takes no longer than the schema is big. */
function expandedSize(root: object, graph: ReadonlyMap<object, Edges>): number {
  const sizes = new Map<object, number>();
  const stack = [{ node: root, next: 0, size: 1 }];
  const open = new Set<object>([root]);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const child = graph.get(top.node)?.parts[top.next++];
    if (child === undefined) {
      sizes.set(top.node, top.size);
      open.delete(top.node);
      stack.pop();
      const parent = stack.at(-1);
      if (parent !== undefined) parent.size = Math.min(parent.size + top.size, Number.MAX_SAFE_INTEGER / 2);
    } else if (open.has(child)) top.size += 1;
    else if (sizes.has(child)) top.size = Math.min(top.size + (sizes.get(child) ?? 0), Number.MAX_SAFE_INTEGER / 2);
    else {
      open.add(child);
      stack.push({ node: child, next: 0, size: 1 });
    }
  }
  return sizes.get(root) ?? 1;
}

function shown(reference: string): string {
  return JSON.stringify(reference.slice(0, 100));
}
