import { isUnknown, SOME } from '../text.ts';
import { all, program } from './define.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';
import { verbs } from './verbs.ts';

const HOST: { readonly type: 'uncontained'; readonly why: string } = { type: 'uncontained', why: 'it works on the host itself' };

const changes =
  (reason: string): Program =>
  (call) => {
    call.report('system_write', `${call.name} ${reason}`, { opens: HOST });
    return undefined;
  };

const wipes =
  (reason: string): Program =>
  (call) => {
    const device = call.args.some((arg) => !arg.startsWith('-') && /^\/dev\//.test(arg));
    const listing = call.args.some((arg) => /^(-l|--list|-n|--no-act|--dry-run|-V|--help|print|p)$/.test(arg)) || call.args.length === 0;
    if (listing && !call.args.some((arg) => /^(-a|--all)$/.test(arg))) return undefined;
    const file = call.args.filter((arg) => !arg.startsWith('-')).at(-1);
    if (!device && file !== undefined && /^(mkfs|mke2fs|mkswap)/.test(call.name) && !isUnknown(file)) {
      call.write(file);
      return undefined;
    }
    call.report('blocked', `${call.name} ${reason}`);
    return undefined;
  };

const volumes: Program = (call) => {
  call.report('system_write', `${call.name} changes the disks of the system`, { opens: HOST });
  if (/remove|reduce/.test(call.name) || call.args.some((arg) => /^(destroy|remove|delete|rollback)$/.test(arg)))
    call.report('destructive', 'removes a volume with its data');
  return undefined;
};

/** `pkill -P $$` ends what this very shell has started, and asks as little as `kill $!`. */
const signals: Program = (call) => {
  if (call.args.some((arg) => /^-(0|l|L)$/.test(arg))) return undefined;
  if (call.name === 'pkill' && call.args.at(-1) === SOME && /^(-P|--parent)$/.test(call.args.at(-2) ?? '') && call.args.length <= 3)
    return undefined;
  call.report('system_write', `${call.name} signals processes by their name anywhere on the host`, { opens: HOST });
  return undefined;
};

const ps: Program = (call) => {
  // `e` without a dash, or the options eww, show the environment of processes.
  const first = call.args[0] ?? '';
  if (/^[a-z]*e[a-z]*$/.test(first) && !first.startsWith('-')) call.report('credential_access', 'shows the environment of processes');
  if (/-o\s*\S*environ|--format\S*environ/.test(call.args.join(' ')))
    call.report('credential_access', 'shows the environment of processes');
  return undefined;
};

const systemctl: Program = (call) => {
  const words = call.args.filter((arg) => !arg.startsWith('-'));
  const [verb = 'list-units'] = words;
  if (/^(status|show|cat|list-.*|is-.*|get-default|help|show-environment|--version)$/.test(verb)) {
    if (verb === 'show-environment') call.report('credential_access', 'shows the environment of services');
    return undefined;
  }
  if (
    /^(enable|reenable|link|preset|add-wants|add-requires|edit|set-default|set-property|import-environment|set-environment|mask|unmask|revert|daemon-reload)$/.test(
      verb,
    )
  ) {
    call.report('persistence', 'changes which services start', { opens: HOST });
  } else call.report('system_write', 'controls services of the host', { opens: HOST });
  return undefined;
};

const crontab: Program = (call) => {
  const words = readWords(call.args, optionTable('u=- l e r i s n T=-'));
  if (words.has('l')) {
    if (words.has('u')) call.report('system_write', 'reads the schedule of another user');
    return undefined;
  }
  call.report('persistence', 'changes what runs by schedule', { opens: HOST });
  const text = call.stdin.text;
  if (text !== undefined && (words.operands.includes('-') || words.operands.length === 0)) {
    for (const line of text.split('\n')) {
      const command = /^\s*(?:@\w+|(?:\S+\s+){5})(.+)$/.exec(line)?.[1];
      if (command !== undefined) call.runsText(command, 'a scheduled command');
    }
  }
  for (const word of words.operands) if (word !== '-') call.read(word);
  return undefined;
};

const at: Program = (call) => {
  if (/^(atq)$/.test(call.name) || call.args.includes('-l')) return undefined;
  call.report('persistence', 'runs a command later', { opens: HOST });
  if (call.stdin.text !== undefined) call.shell(call.stdin.text);
  return undefined;
};

const systemdRun: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable(
      'u=- unit=- p=- property=- E=- setenv=- on-calendar=- on-active=- on-boot=- on-startup=- on-unit-active=- on-unit-inactive=- timer-property=- path-property=- socket-property=- slice=- uid=- gid=- nice=- working-directory=- d same-dir user scope pty t P pipe wait G collect r q M=- machine=- H=- host=- service-type=- description=-',
    ),
    true,
  );
  if (
    words.has(
      'on-calendar',
      'on-active',
      'on-boot',
      'on-startup',
      'on-unit-active',
      'on-unit-inactive',
      'timer-property',
      'path-property',
      'socket-property',
    )
  )
    call.report('persistence', 'runs a command by schedule', { opens: HOST });
  call.report('system_write', 'starts a service on the host', { opens: HOST });
  const start = words.at[0];
  return start === undefined ? undefined : call.inner(start);
};

const mount: Program = (call) => {
  if (call.args.length === 0 || (call.args.length === 1 && call.args[0] === '-l')) return undefined;
  return changes('changes what is mounted')(call);
};

const writ: Program = (call) => {
  const [noun = '', verb = ''] = call.args.filter((arg) => !arg.startsWith('-'));
  if (
    /^(approvals?|upstreams?|config|policy|grants?|agents?|secrets?|rules?|tokens?|workspaces?|link)$/.test(noun) &&
    !(noun === 'config' && verb === 'check')
  ) {
    call.report('persistence', 'changes what Writ allows');
    call.report('credential_access', 'uses the authority of the operator over Writ');
    return undefined;
  }
  if (noun === 'check' || noun === 'version' || noun === 'help' || noun === '' || (noun === 'audit' && /^(list|show|verify)$/.test(verb)))
    return undefined;
  call.report('unknown', 'starts another Writ inside the run');
  return undefined;
};

const network: Program = (call) => {
  const shows =
    call.args.every((arg) =>
      /^(-.*|a|addr|address|link|l|route|r|ro|neigh|n|rule|show|list|ls|dev|get|s|help|-br|-4|-6|[a-z]+\d*)$/.test(arg),
    ) && !call.args.some((arg) => /^(add|del|delete|set|change|flush|replace|append|up|down)$/.test(arg));
  return shows ? undefined : changes('changes the network of the system')(call);
};

const sysctl: Program = (call) =>
  call.args.some((arg) => /^(-w|--write|-p|--load|--system)/.test(arg) || /=/.test(arg))
    ? changes('changes kernel settings')(call)
    : undefined;

const power: Program = changes('stops or restarts the system');

export const SYSTEM: readonly (readonly [string, Program])[] = [
  ['ps', ps],
  ...all(
    'top htop btop atop free vmstat iostat mpstat sar lsof pgrep pidof pstree pmap lscpu lsblk lsusb lspci lsmod lshw dmidecode findmnt ss netstat last lastlog dmesg journalctl ipcs getent nvidia-smi sensors lsns lslocks runlevel lsb_release acpi upower pwdx stress stress-ng systemd-analyze systemd-detect-virt neofetch fastfetch screenfetch inxi cpuid tload procs bandwhich iotop nethogs iftop',
    program({ options: 'o=- O=- p=- u=- U=- n=- f=- d=- g=- G=- t=- L=- H=- since=- until=- unit=- b?- S=- k=- D=- output=-', words: '-' }),
  ),
  [
    'fuser',
    (call: Call) => {
      if (!call.args.some((arg) => /^(-\w*k|--kill)/.test(arg))) return undefined;
      // Who listens on a port is of the run, as with `kill $(lsof -t -i:3000)`; who has a file open may be anybody.
      if (call.args.every((arg) => /^(-[a-z0-9A-Z-]+|\d+\/(tcp|udp))$/.test(arg)))
        call.report('unknown', 'signals processes that cannot be known from the text');
      else signals(call);
      return undefined;
    },
  ],
  ...all('pkill killall killall5 skill slay xkill', signals),
  ...all('renice', changes('changes the priority of processes')),
  ['systemctl', systemctl],
  ...all('service initctl rc-service rc-update chkconfig update-rc.d sv s6-svc supervisorctl pm2 launchctl', (call: Call) => {
    if (/^(pm2|supervisorctl)$/.test(call.name)) {
      if (/^(list|ls|status|logs|show|describe|info)$/.test(call.args[0] ?? '')) return undefined;
      call.report('system_write', 'controls services', { opens: HOST });
      if (/^(startup|save)$/.test(call.args[0] ?? '')) call.report('persistence', 'makes services start with the system');
      return undefined;
    }
    if (call.args.includes('status') || call.args[0] === 'list') return undefined;
    if (/^(rc-update|chkconfig|update-rc\.d|launchctl)$/.test(call.name))
      call.report('persistence', 'changes which services start', { opens: HOST });
    call.report('system_write', 'controls services of the host', { opens: HOST });
    return undefined;
  }),
  ['systemd-run', systemdRun],
  ...all('loginctl', (call: Call) => {
    if (/enable-linger/.test(call.args[0] ?? '')) call.report('persistence', 'lets services run without a login', { opens: HOST });
    else if (/^(terminate|kill|lock|unlock|activate)/.test(call.args[0] ?? ''))
      call.report('system_write', 'controls sessions of the host', { opens: HOST });
    return undefined;
  }),
  ['crontab', crontab],
  ...all('at batch atq atrm', at),
  ...all(
    'mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mke2fs mkswap mkdosfs newfs',
    wipes('makes a new file system over a device'),
  ),
  ...all(
    'wipefs blkdiscard sgdisk sfdisk fdisk gdisk cfdisk parted badblocks hdparm nvme dcfldd ddrescue',
    wipes('overwrites or divides a device'),
  ),
  ...all(
    'lvremove vgremove pvremove lvreduce lvcreate vgcreate pvcreate lvextend lvresize vgreduce mdadm zpool zfs btrfs cryptsetup dmsetup losetup',
    volumes,
  ),
  ...all('fsck fsck.ext4 e2fsck xfs_repair tune2fs resize2fs debugfs', changes('changes a file system')),
  ...all('mount umount swapon swapoff fusermount fusermount3', mount),
  ...all('reboot shutdown halt poweroff init telinit', power),
  ...all(
    'useradd adduser usermod userdel deluser groupadd addgroup groupmod groupdel passwd chpasswd chage chsh chfn gpasswd visudo vipw newusers pwconv',
    (call: Call) => {
      call.report('system_write', 'changes the users of the system', { opens: HOST });
      if (/^(passwd|chpasswd|visudo)$/.test(call.name)) call.report('persistence', 'changes who may get in');
      return undefined;
    },
  ),
  ...all('insmod rmmod modprobe depmod kexec bpftool', changes('changes the kernel')),
  ['sysctl', sysctl],
  ...all('ip ifconfig route brctl bridge tc ethtool iw iwconfig nmcli', network),
  ...all(
    'iptables ip6tables nft ufw firewall-cmd ipset ebtables arptables wg wg-quick openvpn',
    changes('changes the firewall or network'),
  ),
  ...all(
    'ldconfig update-alternatives update-ca-certificates update-grub grub-install grub-mkconfig dracut mkinitramfs update-initramfs dpkg-reconfigure debconf-set-selections alternatives authselect setenforce semanage restorecon chcon aa-enforce aa-complain apparmor_parser auditctl locale-gen',
    changes('changes the system'),
  ),
  ...all(
    'hostnamectl timedatectl localectl',
    verbs({ table: ': safe\n status|show|list-timezones|list-locales|list-keymaps|timesync-status : safe\n * : system' }),
  ),
  [
    'hostname',
    (call: Call) => {
      if (call.args.some((arg) => !arg.startsWith('-') || arg === '-F' || arg === '-b'))
        return changes('changes the name of the system')(call);
      return { origin: 'local', text: SOME };
    },
  ],
  ...all('domainname dnsdomainname nisdomainname', program({ words: '-' })),
  ...all('wall write mesg', changes('writes to other terminals')),
  ...all(
    'xdg-open open xdg-mime gio gsettings dconf defaults notify-send xclip xsel pbcopy pbpaste wl-copy wl-paste clip',
    (call: Call) => {
      if (/^(gsettings|dconf|defaults|xdg-mime)$/.test(call.name) && /^(set|write|reset|default|delete|load)$/.test(call.args[0] ?? ''))
        call.report('persistence', 'changes settings of the desktop');
      else if (/^(xclip|xsel|pbpaste|wl-paste)$/.test(call.name))
        call.report('system_write', 'reaches the clipboard of the person', { opens: HOST });
      else call.report('unknown', 'opens something on the desktop of the person');
      return undefined;
    },
  ),
  ...all('dbus-send gdbus busctl qdbus', changes('talks to services of the host')),
  ['writ', writ],
  ...all('claude codex gemini opencode qwen aider goose amp crush cursor-agent copilot', (call: Call) => {
    if (call.args.length === 1 && /^(--version|-v|--help|-h)$/.test(call.args[0] ?? '')) return undefined;
    call.report('network_egress', 'starts another agent, which talks to its provider', {
      opens: { type: 'hosts', hosts: [], presets: ['models'] },
    });
    call.report('credential_access', 'uses the credentials of another agent');
    if (/^(mcp|config|install|plugin|hooks|skills)$/.test(call.args[0] ?? ''))
      call.report('persistence', 'changes the configuration of an agent');
    return undefined;
  }),
  ['eject', changes('controls a device')],
  ...all('chvt loadkeys setfont kbd_mode openvt deallocvt', changes('controls the console')),
];
