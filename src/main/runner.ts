/** The runner process (internal, started by `writ` itself with a channel to it): hosts the executions of one client. */
import { runnerMain } from '../execution/index.ts';

await runnerMain();
