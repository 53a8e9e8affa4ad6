import { createInterface } from 'node:readline';
import { makePerson, remote } from './person.ts';

/** Another process of the same home: calls the server once for each line that it reads, and says what came of it. */
const [home = '', url = '', issuer = ''] = process.argv.slice(2);
const person = makePerson(home);
const settings = remote('guarded', url, { issuer });
for await (const text of createInterface({ input: process.stdin })) {
  const said = await person.call(settings, text).catch((thrown: unknown) => `failed: ${String(thrown)}`);
  process.stdout.write(`${said}\n`);
}
