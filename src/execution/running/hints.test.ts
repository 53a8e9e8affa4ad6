import { describe, expect, it } from 'vitest';
import { hintsFor } from './hints.ts';
import { containmentReport } from './report.ts';

const enforced = { state: 'enforced' } as const;
const plan = {
  dimensions: {
    network: enforced,
    fs_read: enforced,
    fs_write: enforced,
    user_ns_nesting: enforced,
    unix_sockets: enforced,
    seccomp: enforced,
    memory: enforced,
    tmp_noexec: enforced,
  },
  notes: [],
};
const report = containmentReport(plan, {});

describe('hints', () => {
  it.each([
    ['npm ERR! request to https://r failed, reason: getaddrinfo EAI_AGAIN r', /network is off/],
    ['curl: (6) Could not resolve host: example.org', /network is off/],
    ['[1:1:FATAL:zygote_host_impl_linux.cc(126)] No usable sandbox!', /browser/],
    ['error: could not lock config file .git/config: Read-only file system', /read-only/],
    ['mv: cannot move .git: Device or resource busy', /pinned/],
    ["fatal: could not read Username for 'https://github.com': terminal prompts disabled", /credential.helper=store/],
    ['git@github.com: Permission denied (publickey).', /GIT_SSH_COMMAND/],
    ['unshare: unshare failed: Operation not permitted', /system calls/],
    ['bash: /tmp/pip-build/configure: Permission denied', /TMPDIR/],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock', /Sockets of the host/],
  ])('%s', (output, sentence) => {
    expect(hintsFor(report, { output, failed: true }).join()).toMatch(sentence);
    expect(hintsFor(report, { output, failed: false })).toEqual([]);
  });

  it('say what an allow-list means for programs that do not know its proxy', () => {
    const listed = { ...plan.dimensions, network: { ...enforced, by: 'network namespace of its own, loopback and an allow-list proxy' } };
    const hints = hintsFor(containmentReport({ ...plan, dimensions: listed }, {}), { output: 'Could not resolve host: x', failed: true });
    expect(hints).toEqual([expect.stringMatching(/HTTP_PROXY/)]);
  });

  it('say how a path that was opened can be written, and only where one was', () => {
    const opened = containmentReport({ ...plan, notes: ['opened for this run: /srv/a (read and write)'] }, {});
    const of = (output: string, where = opened): string => hintsFor(where, { output, failed: true }).join();
    expect(of("sed: couldn't open temporary file /srv/sedX: Read-only file system")).toMatch(/not its folder/);
    expect(of('mv: unable to remove target: Device or resource busy')).toMatch(/not its folder/);
    expect(of('mkdir: cannot create directory ‘/srv/a’: File exists')).toMatch(/mkdir -p/);
    expect(of('mkdir: cannot create directory ‘a’: File exists', report)).toBe('');
  });

  it('blame the containment only for what it does', () => {
    const open = containmentReport({ ...plan, dimensions: {} }, {});
    expect(hintsFor(open, { output: 'Could not resolve host: x', failed: true })).toEqual([]);
    expect(hintsFor(report, { output: 'TypeError: x is not a function', failed: true })).toEqual([]);
  });
});
