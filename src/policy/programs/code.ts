import { isForeign, isUnknown, type Text } from '../text.ts';
import type { Call } from './program.ts';

/**
 * Code given as text to an interpreter. It isn't understood, and needn't be: it runs contained. What is looked for is a literal that
 * goes straight to a shell, and text that is decoded or fetched and then run.
 */
export function inspectCode(call: Call, code: Text): void {
  if (isForeign(code)) call.report('blocked', 'runs text from the network or a decoder as a program');
  else if (isUnknown(code)) call.report('unknown', 'the program cannot be known in full from the text');
  // Data on standard input is data, unless the code runs its input.
  if (
    /\b(exec|eval|compile|Function|instance_eval|vm\.run\w*)\b/.test(code) &&
    call.stdin.origin !== 'local' &&
    /stdin|input\(|readFileSync\(\s*0|<STDIN>|<>|\$stdin|ARGF|STDIN|php:\/\/(stdin|input)/.test(code)
  ) {
    call.report('blocked', 'runs its input, which comes from the network or a decoder, as a program');
  }
  inspectRemovals(call, code);
  for (const literal of shellLiterals(code)) call.runsText(literal, `${call.name} runs a command`);
  for (const argv of argvLiterals(code)) if (argv.length > 0) call.inner(call.args.length, { words: argv });
  for (const statement of code.split(/[;\n]/)) {
    if (!RUNS.test(statement)) continue;
    if (DECODES.test(statement)) call.report('blocked', 'decodes text and runs it');
    if (FETCHES.test(statement)) call.report('blocked', 'fetches text and runs it');
  }
  if (SOCKET.test(code) && /\b(dup2|pty\.spawn)\b|['"`](\/usr)?\/bin\/(ba|da|z|k)?sh['"` ]/.test(code))
    call.report('blocked', 'connects a shell to another host');
  for (const match of code.matchAll(WIPES)) call.remove(match[3] ?? '', true);
  for (const match of code.matchAll(UNLINKS)) call.remove(match[3] ?? '', false);
  for (const match of code.matchAll(OPENS_TO_WRITE)) call.write(match[1] ?? match[2] ?? match[3] ?? '');
  for (const match of code.matchAll(READS)) call.read(match[2] ?? '');
  for (const match of code.matchAll(READS_BARE)) call.read(match[2] ?? '');
  for (const match of code.matchAll(PERL_OPEN)) {
    const path = (match[3] ?? match[2] ?? '').trim();
    if (/[>+]/.test(match[1] ?? '')) call.write(path);
    else if (path !== '') call.read(path);
  }
  if (ENVIRONMENT.test(code)) call.report('credential_access', 'takes the whole environment, secrets among it');
  const hosts = [...code.matchAll(/\bhttps?:\/\/[^\s'"`)]+|(?:connect|create_connection|createConnection)\(\(?\s*["']([^"']+)["']/g)].map(
    (match) => match[1] ?? match[0],
  );
  if (FETCHES.test(code)) call.network('the program reaches another host', hosts);
}

const STRING = String.raw`(?:[rbfu]{0,2})(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\x60((?:[^\x60\\$]|\\.)*)\x60)`;
const CALLS_SHELL = new RegExp(
  String.raw`\b(?:os\.system|os\.popen|popen|commands\.getoutput|(?:subprocess|sp)\.(?:run|call|Popen|check_output|check_call|getoutput|getstatusoutput)|system|(?<!/[a-z]{0,6}\.)exec|execSync|spawn(?:Sync)?|shell_exec|passthru|proc_open|IO\.popen|Open3\.\w+|os\.execute|io\.popen|Kernel\.system|sh|do\s+shell\s+script|qx)\s*\(?\s*${STRING}`,
  'g',
);
/** `exec "rm", "-rf", x` of perl and ruby, which need no brackets. */
const BARE_ARGV = /\b(?:system|exec|spawn)\s+((?:["'][^"']*["']\s*(?:,\s*|(?=[;)\n]|$))){2,})/g;
/** `new Deno.Command("rm", { args: [...] })`. */
const COMMAND_ARGS = /\bDeno\.Command\(\s*(["'][^"']*["'])\s*,\s*\{[^}]*?\bargs\s*:\s*\[([^\]]*)\]/g;
/** `(system "...")` and `(shell-command "...")` of the lisps, `exec ...` at the head of a line of Tcl. */
const LISP = /\(\s*(?:system\*?|shell|shell-command(?:-to-string)?|uiop:run-program|run-shell-command)\s+"((?:[^"\\]|\\.)*)"/g;
const TCL = /(?:^|[;\n[])\s*exec\s+([^"'(;\n\]]+)/g;
/** A template that is handed to a shell: Bun's and zx's `$`, Julia's `run`. */
const SHELL_TEMPLATE = /(?:(?<![\w)\]}])\$|\b(?:Bun\.\$|execa\$?|zx))(?:\([^)]*\))?`([^`]*)`|\brun\(\s*`([^`]*)`/g;
const PERL_QX = /(?:\bqx|%x)\s*([{(/|!])([^})/|!]*)[})/|!]/g;
const ARGV =
  /\b(?:run|call|Popen|check_output|check_call|execv[pe]*|spawn\w*|system|exec|execFile(?:Sync)?|spawnSync)\s*\(\s*(?:\[\s*)?((?:["'][^"']*["']\s*,?\s*(?:\[\s*)?){2,})/g;

function* shellLiterals(code: Text): Generator<Text> {
  for (const match of code.matchAll(CALLS_SHELL)) {
    const literal = match[1] ?? match[2] ?? match[3];
    if (literal !== undefined && literal !== '') yield decode(literal);
  }
  for (const match of code.matchAll(PERL_QX)) yield match[2] ?? '';
  for (const pattern of [LISP, TCL]) for (const match of code.matchAll(pattern)) yield decode(match[1] ?? '');
  for (const match of code.matchAll(SHELL_TEMPLATE)) yield match[1] ?? match[2] ?? '';
  // Backticks are a shell in perl, ruby and php, and a template in JavaScript: only text that begins like a command is taken.
  for (const match of code.matchAll(/(?<![\w$)])`((?:[^`\\$]|\\.){2,})`/g))
    if (/^\s*(rm|curl|wget|sudo|dd|mkfs\S*|sh|bash|nc|cat|chmod|git)\s/.test(match[1] ?? '')) yield match[1] ?? '';
}

/** A text that reads like `rm -rf x`, wherever it stands and however it is quoted: it may reach a shell under any name. */
const REMOVES = /["'`[({|]\s*((?:sudo\s+)?(?:\/(?:usr\/)?bin\/)?(?:rm|shred)\s+-\w[^"'`\])}|\n]*)/g;
/** The same as a list of words, in any language. */
const REMOVING_WORDS = /["'](?:\/(?:usr\/)?bin\/)?(?:rm|shred)["'](?:[\s,[(]|\bc\(|\bnil\b)*(?:["'][^"'\n]*["'][\s,]*)+/g;

/** Of the program of any language, awk's too: what it would throw away if its texts became commands. */
export function inspectRemovals(call: Call, code: Text): void {
  for (const match of code.matchAll(REMOVES)) call.runsText(match[1] ?? '', `${call.name} may run a command`);
  for (const match of code.matchAll(REMOVING_WORDS))
    call.inner(call.args.length, { words: [...match[0].matchAll(/["']([^"']*)["']/g)].map((one) => one[1] ?? '') });
}

function* argvLiterals(code: Text): Generator<readonly Text[]> {
  const texts = [ARGV, BARE_ARGV].flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ''));
  for (const match of code.matchAll(COMMAND_ARGS)) texts.push(`${match[1]},${match[2]}`);
  for (const text of texts) yield [...text.matchAll(/["']([^"']*)["']/g)].map((one) => one[1] ?? '');
}

const decode = (literal: Text): Text =>
  literal.replace(/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([0-7]{3})|(.))/gs, (_whole, hex, unicode, octal, char) =>
    hex !== undefined || unicode !== undefined
      ? String.fromCharCode(Number.parseInt(hex ?? unicode, 16))
      : octal !== undefined
        ? String.fromCharCode(Number.parseInt(octal, 8))
        : char === 'n'
          ? '\n'
          : char === 't'
            ? '\t'
            : char,
  );

const DECODES =
  /\b(b64decode|base64|b32decode|a85decode|unhexlify|fromhex|bytes\.fromhex|codecs\.decode|rot13|atob|decode64|unpack|MIME::Base64|decode_base64|zlib\.decompress|marshal\.loads|String\.fromCharCode|hex2bin|gzinflate|str_rot13|base64_decode|FromBase64String)\b|['"]base64['"]/;
const RUNS =
  /(?<![.\w])(exec|eval|compile|Function|instance_eval|loadstring|load|vm\.run\w*|system|popen|Invoke-Expression|iex)\s*\(|\beval\s+\w|\b(os\.(system|popen)|subprocess\.\w+|execSync|spawnSync)\s*\(|\.then\(\s*(eval|Function)|\|\s*iex\b/;
const FETCHES =
  /\b(urlopen|urlretrieve|urllib\.request|urllib2|urllib3|requests\.(get|post|put|delete|request)|httpx|aiohttp|http\.client|https?\.(get|request)|fetch\s*\(|axios|Net::HTTP|open-uri|LWP|HTTP::Tiny|file_get_contents\s*\(\s*['"]https?:|curl_exec|create_connection|\w+\.connect\(\(|net\.(connect|createConnection)|XMLHttpRequest|smtplib|ftplib|paramiko|boto3|Invoke-WebRequest|DownloadString|IO::Socket|TCPSocket|fsockopen)\b|fetch\s*\(/;
const SOCKET =
  /\b(socket\.(socket|create_connection)|net\.(connect|Socket|createConnection)|TCPSocket|IO::Socket|fsockopen|LuaSocket|socket\.connect)\b/;
const WIPES =
  /\b(shutil\.rmtree|rmtree|fs\.rmSync|rmSync|fs\.rm|fs\.rmdirSync|rmdirSync|FileUtils\.rm_rf|FileUtils\.rm_r|rm_rf|rimraf\.sync|rimraf|remove_tree|removeSync|delete-directory|Deno\.remove(?:Sync)?|remove_dir|remove_entry(?:_secure)?|File\.rm_rf!?|(?:promises|fsp?|promises"\)|promises'\))\.rm)\s*\(?\s*(?:path\s*=\s*)?(["'])([^"']*)\2/g;
const UNLINKS = /\b(os\.remove|os\.unlink|unlinkSync|fs\.unlink|unlink|File\.delete)\s*\(?\s*(["'])([^"']*)\2/g;
const OPENS_TO_WRITE =
  /(?:\bopen\s*\(\s*["']([^"']*)["']\s*,\s*(?:mode\s*=\s*)?["'][wax]|\b(?:writeFileSync|appendFileSync|writeFile|appendFile|createWriteStream|file_put_contents|File\.write)\s*\(\s*["']([^"']*)["']|\bPath\(\s*["']([^"']*)["']\s*\)\.write_(?:text|bytes))/g;
const READS =
  /\b(?:open|readFileSync|readFile|createReadStream|file_get_contents|readfile|(?:File|IO)\.(?:read|readlines|foreach)|Path)\s*\(\s*(["'])([^"']*)\1\s*(?:\)|,\s*(?:["'](?:r|rb|utf-?8|utf8|ascii|latin1|binary|hex|base64)["']|\{))/g;
/** `puts File.read "x"`: ruby needs no brackets. */
const READS_BARE = /\b(?:File|IO)\.(?:read|readlines|foreach)\s+(["'])([^"'#]*)\1/g;
/** `open F, ">x"`, `open(my $f, '<', 'x')`: the mode stands before the name or alone. */
const PERL_OPEN =
  /\bopen\s*\(?\s*(?:my\s+)?(?:\$\w+|[A-Z]\w*)\s*,\s*["']\s*([+]?[<>]{0,2})(?::[\w()-]+)?\s*([^"'|<>$]*)["'](?:\s*,\s*["']([^"'$]*)["'])?/g;
const ENVIRONMENT =
  /\b(print|console\.log|pprint|json\.dumps|JSON\.stringify|Object\.entries|puts|p|var_dump|print_r|repr|str)\s*\(?\s*(?:(?:dict|list|sorted|str|repr|json\.dumps|JSON\.stringify)\s*\(\s*)*(os\.environ|process\.env|ENV|\$_ENV|getenv\(\))(?!\s*[.[(]\s*["'\w])/;
