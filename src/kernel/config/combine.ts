import { limitsOfBackend } from './backend-limits.ts';
import { checkFile } from './check-file.ts';
import { nearest } from './keys.ts';
import { type Path, shown } from './parse.ts';
import type { ProcessFacts } from './process.ts';
import { readConfigFile } from './read-file.ts';
import type { ConfigNote, LoadConfigOptions, LoadedConfig, Origin } from './result.ts';
import { type ConfigInput, configSchema } from './schema.ts';
import { SETTINGS, type SettingPath, VARIABLES } from './settings.ts';
import { tighten } from './tighten.ts';
import type { Config } from './types.ts';

type Values = Partial<Record<SettingPath, unknown>>;

interface Layer {
  readonly values: Values;
  originOf(path: Path): Origin;
}

export interface CombineInput {
  readonly facts: Pick<ProcessFacts, 'host_env' | 'uid'>;
  readonly defaults: Config;
  readonly operator: string;
  readonly project: string | undefined;
  readonly flags: NonNullable<LoadConfigOptions['flags']>;
}

/** Reads what there is and lays it on the defaults, weakest first. Any problem anywhere means no configuration. */
export function combine({ facts, defaults, operator, project, flags }: CombineInput): LoadedConfig {
  const problems: ConfigNote[] = [];
  const warnings: ConfigNote[] = [];
  const files: string[] = [];
  const provenance: Record<string, Origin> = {};
  const values = flatten(defaults);

  const fileLayer = (file: string, source: 'operator' | 'project'): (Layer & { lineOf(path: Path): number }) | undefined => {
    const read = readConfigFile(file, source === 'project' ? 'project' : { operator_uid: facts.uid });
    if (read.state === 'absent') return undefined;
    files.push(file);
    const checked = checkFile(file, read);
    warnings.push(...checked.warnings);
    if (!checked.ok) {
      problems.push(...checked.problems);
      return undefined;
    }
    const { lineOf } = checked;
    return {
      values: flatten(withSource(checked.input, source)),
      lineOf,
      originOf: (path) => ({ source, place: `${file}:${lineOf(path)}` }),
    };
  };

  const operatorLayer = fileLayer(operator, 'operator');
  if (operatorLayer !== undefined) lay(values, provenance, operatorLayer);
  const narrowed: string[] = [];
  const projectLayer = project === undefined ? undefined : fileLayer(project, 'project');
  if (projectLayer !== undefined && project !== undefined) {
    for (const path of settingPaths()) {
      if (!(path in projectLayer.values)) continue;
      const { value, changed, ignored } = tighten(path, values[path], projectLayer.values[path]);
      values[path] = value;
      for (const part of changed) provenance[dotted(path, part)] = projectLayer.originOf([...path.split('.'), ...part]);
      if (path === 'tools.toolsets') narrowed.push(...changed.map(([name]) => String(name)));
      for (const { part, why } of ignored) {
        const at = [...path.split('.'), ...part];
        warnings.push({
          file: project,
          line: projectLayer.lineOf(at),
          message: `${shown(at)} is ignored: ${why}`,
          fix: 'Say it in the operator configuration if you want it.',
        });
      }
    }
  }
  const settings = [
    ...Object.entries(VARIABLES).flatMap(([name, path]) => {
      const text = facts.host_env[name];
      return text === undefined || text === '' ? [] : [{ source: 'environment' as const, place: name, path, value: fromText(text) }];
    }),
    ...flags.map(({ flag, path, value }) => ({ source: 'flag' as const, place: flag, path, value })),
  ];
  for (const { source, place, path, value } of settings) {
    const checked = checkSetting(path, value);
    if (checked.ok) lay(values, provenance, { values: { [checked.path]: checked.value }, originOf: () => ({ source, place }) });
    else problems.push({ message: `${place} ${checked.message}`, fix: `Correct ${place}, or leave it out.` });
  }
  for (const name of Object.keys(facts.host_env)) {
    if (!name.startsWith('WRIT_') || name in VARIABLES) continue;
    const near = nearest(
      name,
      Object.keys(VARIABLES).map((one) => ({ name: one, security: false })),
    );
    if (near !== undefined) warnings.push({ message: `The variable ${name} is unknown and ignored`, fix: `Did you mean ${near.name}?` });
  }

  if (problems.length > 0) return { ok: false, problems, warnings };
  const laid = unflatten(values);
  const config: Config = {
    ...laid,
    sandbox: { ...laid.sandbox, limits: limitsOfBackend(laid, provenance) },
    ...(narrowed.length === 0 ? {} : { narrowed }),
  };
  if (config.shell.timeout_ms > config.shell.max_timeout_ms) {
    const message = `shell.timeout_ms (${config.shell.timeout_ms}) is more than shell.max_timeout_ms (${config.shell.max_timeout_ms})`;
    return { ok: false, problems: [{ message, fix: 'Lower the first or raise the second.' }], warnings };
  }
  return { ok: true, config, provenance, warnings, files };
}

/** A stronger layer replaces a value, except that maps are merged by key. */
function lay(values: Values, provenance: Record<string, Origin>, layer: Layer): void {
  for (const path of settingPaths()) {
    if (!(path in layer.values)) continue;
    const value = layer.values[path];
    const parts: Path[] = Array.isArray(value)
      ? value.map((_, index) => [index])
      : isMap(value)
        ? Object.keys(value).map((key) => [key])
        : [[]];
    for (const part of parts) provenance[dotted(path, part)] = layer.originOf([...path.split('.'), ...part]);
    values[path] = isMap(value) ? { ...(values[path] as object), ...value } : value;
  }
}

function checkSetting(path: string, value: unknown): { ok: true; path: SettingPath; value: unknown } | { ok: false; message: string } {
  if (!isSetting(path)) return { ok: false, message: `names the setting ${path}, which there is none of` };
  const nested = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  const checked = configSchema.safeParse(nested);
  if (!checked.success) return { ok: false, message: `is not right for ${path}: ${checked.error.issues[0]?.message ?? 'wrong type'}` };
  return { ok: true, path, value: flatten(checked.data)[path] };
}

function withSource(input: ConfigInput, source: 'operator' | 'project'): object {
  const { $schema: _, mcp_servers, ...rest } = input;
  if (mcp_servers === undefined) return rest;
  return { ...rest, mcp_servers: Object.fromEntries(Object.entries(mcp_servers).map(([name, entry]) => [name, { source, entry }])) };
}

function flatten(tree: object): Values {
  const values: Values = {};
  for (const path of settingPaths()) {
    let at: unknown = tree;
    for (const key of path.split('.')) at = isMap(at) ? at[key] : undefined;
    if (at !== undefined) values[path] = at;
  }
  return values;
}

function unflatten(values: Values): Config {
  const tree: Record<string, unknown> = {};
  for (const path of settingPaths()) {
    const keys = path.split('.');
    let at = tree;
    for (const key of keys.slice(0, -1)) {
      const inner = isMap(at[key]) ? at[key] : {};
      at[key] = inner;
      at = inner;
    }
    at[keys.at(-1) ?? ''] = values[path];
  }
  // Sound because every value comes from the defaults or through the schema, and SETTINGS names every leaf of Config.
  return tree as unknown as Config;
}

function settingPaths(): readonly SettingPath[] {
  return Object.keys(SETTINGS).filter(isSetting);
}

function isSetting(path: string): path is SettingPath {
  return Object.hasOwn(SETTINGS, path);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function dotted(path: string, part: Path): string {
  return [path, ...part].join('.');
}

/** Variables are text; numbers are what look like them. */
function fromText(text: string): unknown {
  return /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : text;
}
