import type { Text } from '../text.ts';
import { all } from './define.ts';
import type { Call, Program } from './program.ts';

const LOSS =
  /^(delete|destroy|remove|rm|rb|terminate|purge|deprovision|drop|wipe|reset|deregister|revoke|empty|prune|del|kill)([-:].*)?$|^(delete|destroy|remove|terminate|purge|deregister)-/;
const SECRET =
  /(secret|password|token|credential|access-key|get-parameter|kms|decrypt|print-access|print-identity|login|auth|keyvault|sts|session-token|assume-role|config-export|env pull|env get)/;

/** Where a provider's client keeps who it is, below the home. */
const CONFIGURATION: Readonly<Record<string, string>> = {
  aws: '.aws',
  gcloud: '.config/gcloud',
  gsutil: '.config/gcloud',
  bq: '.config/gcloud',
  az: '.azure',
  doctl: '.config/doctl',
  fly: '.fly',
  flyctl: '.fly',
  s3cmd: '.s3cfg',
};

/** Command lines of providers: everything reaches them; some of it destroys, some of it shows secrets. */
const provider: Program = (call) => {
  const words: readonly Text[] = call.args.filter((arg) => !arg.startsWith('-'));
  const [first = ''] = words;
  if (first === '' || /^(help|version|completion|info|--version)$/.test(first)) return undefined;
  call.network(`${call.name} talks to a provider`, [], [call.name]);
  const configuration = CONFIGURATION[call.name];
  if (configuration !== undefined) call.needs(configuration);
  const loses =
    words.some((word) => LOSS.test(word)) ||
    (call.name === 'aws' && words.includes('sync') && call.args.includes('--delete')) ||
    (/^gsutil$/.test(call.name) && call.args.includes('-d') && words.includes('rsync'));
  if (loses && !call.args.some((arg) => /^--(dry-?run|dryrun)/.test(arg))) call.report('destructive', 'removes something from a provider');
  if (SECRET.test(words.slice(0, 3).join(' ')) || words.some((word) => /^get-secret-value$/.test(word)))
    call.report('credential_access', 'handles secrets of a provider');
  for (const word of words) {
    const file = /^(?:fileb?:\/\/)(.+)$/.exec(word)?.[1];
    if (file !== undefined) call.read(file);
  }
  if (call.name === 'aws' && words[0] === 's3' && /^(cp|mv|sync)$/.test(words[1] ?? '')) {
    const [, , from = '', to = ''] = words;
    if (!from.startsWith('s3:')) call.read(from);
    if (to !== '' && to !== '-' && !to.startsWith('s3:')) call.write(to, { origin: 'network' });
  }
  return { origin: 'network' };
};

const terraform: Program = (call) => {
  const [verb = ''] = call.args.filter((arg) => !arg.startsWith('-'));
  if (/^(version|help|fmt|validate|graph|)$/.test(verb)) {
    if (verb === 'validate' || verb === 'fmt') call.report('code_execution', 'reads the configuration of the project');
    return undefined;
  }
  call.network(`${call.name} talks to providers`, [], ['terraform']);
  call.report('code_execution', 'runs provider plug-ins');
  if (verb === 'destroy' || (verb === 'apply' && call.args.some((arg) => /^-?-destroy/.test(arg))))
    call.report('destructive', 'destroys infrastructure');
  if (verb === 'state' && call.args.includes('rm')) call.report('destructive', 'forgets infrastructure');
  if (/^(output|show|state)$/.test(verb)) call.report('credential_access', 'the state may hold secrets');
  if (verb === 'init' || verb === 'get')
    call.report('install', 'downloads plug-ins', { opens: { type: 'hosts', hosts: [], presets: ['terraform'] } });
  return { origin: 'network' };
};

const secrets: Program = (call) => {
  call.report('credential_access', `${call.name} handles stored secrets`);
  const dashes = call.args.indexOf('--');
  if (dashes >= 0 && /^(run|exec)$/.test(call.args.find((arg) => !arg.startsWith('-')) ?? '')) call.inner(dashes + 1);
  if (!/^(pass|secret-tool|keyring|security|kwallet-query|age|sops|gopass)$/.test(call.name))
    call.network(`${call.name} talks to a provider`, [], [call.name]);
  return undefined;
};

export const CLOUD: readonly (readonly [string, Program])[] = [
  ...all(
    'aws gcloud gsutil bq az ibmcloud oci aliyun doctl linode-cli hcloud scw flyctl fly heroku vercel netlify render railway wrangler firebase supabase neonctl planetscale pscale cf eb sam cdk serverless sls amplify copilot s3cmd s5cmd mc sentry-cli datadog-ci newrelic snyk sonar-scanner codecov circleci travis buildkite-agent jira linear stripe twilio shopify salesforce sfdx sf eas expo-cli turso xata convex',
    provider,
  ),
  ...all('terraform tofu terragrunt', terraform),
  ...all('pulumi', (call: Call) => {
    call.network('pulumi talks to providers', [], ['pulumi']);
    call.report('code_execution', 'runs the program of the project');
    if (/^(destroy|cancel)$/.test(call.args[0] ?? '') || (call.args[0] === 'stack' && call.args[1] === 'rm'))
      call.report('destructive', 'destroys infrastructure');
    return undefined;
  }),
  ...all('ansible ansible-playbook ansible-galaxy ansible-pull salt salt-call puppet chef-client packer consul nomad', (call: Call) => {
    const looks =
      /^ansible(-playbook)?$/.test(call.name) &&
      call.args.some((arg) => /^--(syntax-check|list-hosts|list-tasks|list-tags|version)$/.test(arg));
    if (!looks) call.network(`${call.name} works on other hosts`, []);
    call.report('code_execution', 'runs the playbooks of the project');
    if (call.name === 'ansible') {
      const at = call.args.findIndex((arg) => arg === '-a' || arg === '--args');
      if (at >= 0) call.shell(call.args[at + 1] ?? '', { remote: true });
    }
    return undefined;
  }),
  ...all(
    'ansible-vault vault op bw lpass pass gopass secret-tool keyring security sops age chamber doppler infisical envkey aws-vault saml2aws kwallet-query gcloud-auth teller',
    secrets,
  ),
];
