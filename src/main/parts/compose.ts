import type { App } from '../../cli/index.ts';
import { systemClock } from '../../kernel/clock.ts';
import { ensureHome, loadConfig, readProcess } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { createRedactor } from '../../kernel/redaction/index.ts';
import { createStderrLogger } from '../../kernel/stderr-logger.ts';
import { once } from './once.ts';
import { policyOf } from './policy.ts';
import { selfCommand } from './self-command.ts';
import { version } from './version.ts';

/**
 * The one place that wires rooms together for the `writ` program. Everything but the facts of the process is made when first
 * asked for, and what a command doesn't use is not even loaded: `writ mcp` must answer its first request fast.
 */
export async function composeApp(entry: (name: string) => URL): Promise<App> {
  const facts = readProcess();
  const clock = systemClock;
  const home = once(() => {
    const ensured = ensureHome(facts);
    if (!ensured.ok) throw new AppError('config_invalid', ensured.message, { fix: ensured.fix });
    return ensured;
  });
  // The project's own file is read where the agent works; it may only tighten.
  const config = once(async () => {
    const loaded = await loadConfig(facts, { home: home().home, project_dir: facts.cwd });
    if (loaded.ok) return loaded;
    const first = loaded.problems[0];
    throw new AppError(
      'config_invalid',
      `The configuration can't be used: ${first?.message ?? 'unreadable'}${first?.file ? ` (${first.file}${first.line ? `:${first.line}` : ''})` : ''}.`,
      {
        fix: 'Run `writ config check` for all of it.',
      },
    );
  });
  const redactor = createRedactor({ known_values: [] });
  const logger = createStderrLogger({ redactor, level: 'info', output: process.stderr, clock });
  const execution = once(async () => {
    const { createLocalExecution } = await import('./execution.ts');
    return createLocalExecution({ facts, home: home().home, config: (await config()).config, runner: entry('runner'), logger, clock });
  });
  const audit = once(async () => {
    const { openAudit } = await import('./audit.ts');
    return openAudit({ home: home().home, writer: entry('writer-thread'), clock, logger });
  });

  return {
    version,
    clock,
    cwd: facts.cwd ?? '/',
    self: selfCommand(facts.self),
    home: () => home().home,
    execution,
    audit,
    check: async (command, cwd) =>
      (await import('./check.ts')).checkCommand({
        command,
        cwd,
        facts,
        home: home().home,
        policy: await policyOf((await config()).config),
      }),
    explainConfig: async () => (await import('./explain.ts')).explainLocalConfig(facts, home().home, redactor),
    serveMcp: async (options) => {
      const { serveMcp } = await import('./serve-mcp.ts');
      await serveMcp({
        ...options,
        facts,
        home: home().home,
        config: (await config()).config,
        redactor,
        logger,
        clock,
        execution,
        audit,
        version,
        input: process.stdin,
        output: process.stdout,
      });
    },
    demonstrate: async () => {
      const { demonstrate } = await import('./demonstrate.ts');
      return demonstrate({ facts, home: home().home, config: (await config()).config, redactor, logger, clock, execution, audit, version });
    },
  };
}
