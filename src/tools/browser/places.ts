import { isPlace, type Place, readPlace } from '../../execution/index.ts';
import type { Execution, Owner } from '../../execution/types.ts';

/** What the browser may open without a question: what the operator named, and ports of this agent's own jobs. */
export interface OpenPlaces {
  list(): Promise<readonly Place[]>;
  /** Of a job: what its page says is the agent's own output, like that of any job. */
  isJob(host: string, port: number): Promise<boolean>;
}

/** How long one look at the jobs is good for: a page makes many connections at once. */
const FRESH_MS = 500;

export function createOpenPlaces(execution: Pick<Execution, 'jobs'>, owner: Owner, allowHosts: readonly string[]): OpenPlaces {
  const named = allowHosts.map(readPlace).filter((place) => typeof place !== 'string');
  let seen: { readonly at: number; readonly places: Promise<readonly Place[]> } | undefined;
  const ofJobs = (): Promise<readonly Place[]> => {
    const now = performance.now();
    if (seen === undefined || now - seen.at > FRESH_MS) seen = { at: now, places: jobPlaces(execution, owner) };
    return seen.places;
  };
  return {
    list: async () => [...named, ...(await ofJobs())],
    isJob: async (host, port) => isPlace(await ofJobs(), host, port),
  };
}

async function jobPlaces({ jobs }: Pick<Execution, 'jobs'>, { organization, agent }: Owner): Promise<readonly Place[]> {
  const running = (await jobs.list({ organization, agent })).filter(({ state }) => state === 'running');
  const ports = running.flatMap((job) => job.ports ?? []);
  return ports.map((port) => readPlace(`127.0.0.1:${port}`)).filter((place) => typeof place !== 'string');
}

/** The host of an address as openings and cards write it: with its port where that isn't the usual one. */
export function hostText(url: URL): string {
  return url.port === '' || url.port === '80' || url.port === '443' ? url.hostname : `${url.hostname}:${url.port}`;
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}
