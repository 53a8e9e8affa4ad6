/**
 * What is special about a path, as data. `~/` is any home, `**` at the end is everything below (and the folder itself), `*` stands
 * for any run within one component, and a line without a leading `/` or `~/` matches at any depth.
 */

const lines = (text: string): readonly string[] => text.split(/\s+/).filter((line) => line !== '');

/** Reading one of these can give a secret away. */
export const SECRETS = lines(`
  /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d/** /etc/krb5.keytab /etc/ssl/private/** /etc/letsencrypt/**
  /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key /etc/security/opasswd /etc/NetworkManager/system-connections/**
  /etc/kubernetes/** /etc/rancher/** /etc/docker/key.json /etc/wireguard/** /etc/openvpn/** /etc/ppp/chap-secrets
  /proc/*/environ /proc/*/mem /proc/*/maps.mem /proc/*/root/** /proc/*/fd/** /proc/kcore /proc/*/task/*/environ /dev/mem /dev/kmem /dev/port
  /run/secrets/** /var/run/secrets/** /var/lib/docker/** /var/lib/kubelet/** /var/lib/sss/**

  ~/.ssh/** ~/.aws/** ~/.azure/** ~/.gnupg/** ~/.kube/** ~/.docker/config.json ~/.git-credentials ~/.netrc ~/_netrc ~/.pgpass ~/.my.cnf ~/.mylogin.cnf
  ~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.pypirc ~/.config/gh/** ~/.config/gcloud/** ~/.config/git/credentials ~/.config/hub ~/.config/glab-cli/** ~/.config/op/**
  ~/.config/doctl/** ~/.config/heroku/** ~/.config/rclone/** ~/.config/containers/auth.json ~/.config/pip/** ~/.config/sops/** ~/.config/age/**
  ~/.cargo/credentials ~/.cargo/credentials.toml ~/.gem/credentials ~/.m2/settings.xml ~/.m2/settings-security.xml ~/.gradle/gradle.properties ~/.terraform.d/** ~/.terraformrc
  ~/.vault-token ~/.password-store/** ~/.local/share/keyrings/** ~/.mozilla/** ~/.thunderbird/** ~/.config/google-chrome/** ~/.config/chromium/** ~/.config/BraveSoftware/**
  ~/Library/Keychains/** ~/.bash_history ~/.zsh_history ~/.python_history ~/.node_repl_history ~/.psql_history ~/.mysql_history ~/.sqlite_history ~/.lesshst ~/.histfile
  ~/.claude/** ~/.claude.json ~/.codex/** ~/.gemini/** ~/.qwen/** ~/.cursor/** ~/.config/opencode/** ~/.local/share/opencode/** ~/.config/github-copilot/** ~/.config/Code/** ~/.aider.conf.yml
  ~/.writ/** ~/.odek/** ~/.bitcoin/** ~/.ethereum/** ~/.config/solana/** ~/.electrum/** ~/.s3cfg ~/.boto ~/.dockercfg ~/.htpasswd ~/.config/sqlite3

  .env .env.* .envrc.private .netrc .git-credentials .pgpass .pypirc .htpasswd .vault-token .vault_pass .dockercfg
  id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.asc.key
  secrets.yml secrets.yaml secrets.json secrets.toml secrets.env credentials.json service-account.json service_account.json terraform.tfstate terraform.tfstate.backup
  .ssh/** .gnupg/** .aws/credentials .kube/config .docker/config.json
`);

/** Not secrets although a line above matches. They may still be hidden by containment. */
export const NOT_SECRET = lines(`
  ~/.ssh/*.pub ~/.ssh/known_hosts ~/.ssh/known_hosts.old ~/.ssh/config ~/.ssh/authorized_keys .ssh/*.pub
  cert.pem *cert.pem *-chain.pem chain.pem fullchain.pem ca.pem ca-*.pem public.pem *.pub.pem
  .env.example .env.sample .env.template .env.dist .env.defaults .env.schema .env.*.example .env.*.sample .env.*.template
`);

/** Writing one of these makes something run later, without anybody asking for it. */
export const STARTUP = lines(`
  ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.login ~/.inputrc
  ~/.xinitrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.Xresources ~/.pam_environment ~/.environment ~/.config/fish/** ~/.config/autostart/** ~/.config/systemd/** ~/.config/environment.d/**
  ~/.config/git/** ~/.gitconfig ~/.git-templates/** ~/.ssh/** ~/.vimrc ~/.vim/** ~/.config/nvim/** ~/.emacs ~/.emacs.d/** ~/.config/emacs/** ~/.nanorc ~/.tmux.conf ~/.config/tmux/** ~/.screenrc
  ~/.gdbinit ~/.lldbinit ~/.pythonrc ~/.pystartup ~/.irbrc ~/.pryrc ~/.Rprofile ~/.perldb ~/.psqlrc ~/.sqliterc ~/.mailrc ~/.muttrc ~/.curlrc ~/.wgetrc ~/.lessfilter ~/.lesskey
  ~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.config/pip/** ~/.pip/** ~/.pypirc ~/.cargo/config ~/.cargo/config.toml ~/.cargo/bin/** ~/.config/direnv/** ~/.direnvrc ~/.condarc ~/.bundle/config
  ~/.local/bin/** ~/bin/** ~/.bin/** ~/.local/share/applications/** ~/.local/share/systemd/** ~/.config/plasma-workspace/** ~/.local/lib/python*/** ~/Library/LaunchAgents/** ~/Library/LaunchDaemons/**
  ~/.aws/** ~/.kube/** ~/.docker/** ~/.gnupg/** ~/.netrc ~/.git-credentials ~/.config/gh/** ~/.config/gcloud/** ~/.terraformrc ~/.m2/settings.xml ~/.gradle/init.gradle ~/.gradle/init.d/** ~/.gradle/gradle.properties
  ~/.claude/** ~/.claude.json ~/.codex/** ~/.gemini/** ~/.qwen/** ~/.cursor/** ~/.config/opencode/** ~/.opencode/** ~/.config/Code/** ~/.vscode/** ~/.vscode-server/** ~/.config/zed/** ~/.config/goose/** ~/.continue/** ~/.aider.conf.yml
  ~/.writ/** ~/.odek/** ~/.nvm/** ~/.pyenv/** ~/.asdf/** ~/.rbenv/** ~/.sdkman/** ~/.oh-my-zsh/** ~/.config/starship.toml ~/.config/htop/** ~/.config/mise/** ~/.config/husky/**

  /etc/cron* /etc/cron.d/** /etc/cron.daily/** /etc/cron.hourly/** /etc/cron.weekly/** /etc/cron.monthly/** /etc/anacrontab /etc/at.allow /var/spool/cron/** /var/spool/at/**
  /etc/systemd/** /usr/lib/systemd/** /usr/local/lib/systemd/** /lib/systemd/** /run/systemd/** /etc/init.d/** /etc/init/** /etc/rc.local /etc/rc*.d/** /etc/inittab
  /etc/profile /etc/profile.d/** /etc/bash.bashrc /etc/bashrc /etc/zsh/** /etc/zshrc /etc/zshenv /etc/environment /etc/environment.d/** /etc/skel/** /etc/xdg/autostart/** /etc/X11/**
  /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/** /etc/sudoers /etc/sudoers.d/** /etc/pam.d/** /etc/security/** /etc/ssh/** /etc/udev/** /etc/modules /etc/modules-load.d/** /etc/modprobe.d/**
  /etc/apt/apt.conf.d/** /etc/dpkg/** /etc/logrotate.d/** /etc/update-motd.d/** /etc/NetworkManager/dispatcher.d/** /etc/network/** /etc/gitconfig /etc/vim/** /etc/acpi/** /etc/binfmt.d/**
  /Library/LaunchAgents/** /Library/LaunchDaemons/** /System/Library/**

  .git .git/config .git/config.worktree .git/hooks/** .git/info/attributes .git/modules/** .git/worktrees/*/config.worktree .husky/** .githooks/**
  .vscode/** .idea/** .devcontainer/** .zed/** .fleet/** .nova/** *.code-workspace
  .claude/** .mcp.json .cursor/** .cursorrules .gemini/** .qwen/** .codex/** .opencode/** opencode.json opencode.jsonc .windsurf/** .continue/** .roo/** .kilocode/** .goose/** .aider.conf.yml .amazonq/** .kiro/** .crush.json crush.json
  writ.json .envrc .direnv/** .exrc .nvimrc .vimrc .lvimrc .gdbinit .lldbinit .dir-locals.el .bashrc .zshrc .profile .ssh/authorized_keys
`);

/** Folders of a project that its tools build again. */
export const SCRATCH = new Set(
  lines(
    'node_modules dist build target coverage .pytest_cache __pycache__ .next .nuxt .turbo .cache .parcel-cache .mypy_cache .ruff_cache .tox .nyc_output .vite .svelte-kit .gradle .eggs htmlcov out .venv venv .nx .angular .output .dart_tool .terragrunt-cache .ipynb_checkpoints .hypothesis .nox .eslintcache .stylelintcache .DS_Store Thumbs.db',
  ),
);

/** Files that a compiler or a merge leaves behind, by their kind. */
export const LEFT_BEHIND = /\.(pyc|pyo|tsbuildinfo|o|obj|class|gcda|gcno|profraw|orig|rej)$/;

/** Private folders of the run: whatever is written there is of no matter to anybody else. */
export const TEMPORARY = ['/tmp', '/var/tmp', '/dev/shm'] as const;

/** Read-only and visible inside containment; everything else outside the workspace is hidden. */
export const VISIBLE = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt',
  '/proc',
  '/dev',
  '/sys',
  '/nix',
  '/snap',
  '/Applications',
  '/Library/Developer',
] as const;

/** What of /etc every run has, and all below it. The rest is hidden (`test/house/etc.test.ts` holds this against what containment shows). */
export const VISIBLE_ETC = lines(`
  host.conf resolv.conf nsswitch.conf gai.conf networks protocols services rpc ethertypes
  ld.so.cache ld.so.conf ld.so.conf.d alternatives
  ssl/certs ssl/openssl.cnf ssl/cert.pem pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust ca-certificates ca-certificates.conf crypto-policies
  localtime timezone locale.conf locale.alias default/locale os-release lsb-release debian_version redhat-release fedora-release alpine-release login.defs shells
  profile profile.d bash.bashrc bashrc bash_completion.d zsh inputrc terminfo skel vim nanorc
  java* maven gradle perl python* php R emacs fonts ImageMagick-6 ImageMagick-7 magic magic.mime mime.types mailcap papersize xml sgml groff manpath.config texmf
  ssh/ssh_config ssh/ssh_config.d wgetrc debuginfod gdb glvnd OpenCL vulkan chromium chromium.d
  hosts hostname passwd group gitconfig npmrc pip.conf ssh/ssh_known_hosts
`);

/** Folders of the home that tool chains live in: reached through PATH, no reason to ask. */
export const TOOL_HOMES = new Set(
  lines(
    '.nvm .cargo .rustup .pyenv .rbenv .asdf .sdkman .volta .fnm .bun .deno .cache .npm .local go .m2 .gradle .pnpm-store .yarn .config .goenv .jenv .ghcup .opam .stack .conda miniconda3 anaconda3 .mise .proto .dotnet .nuget',
  ),
);

/** Folders of the home where a write stays in the private home and starts nothing. */
export const CACHE_HOMES = new Set(lines('.cache .npm .pnpm-store .yarn go'));

export const SYSTEM_BINARIES = new Set(
  lines(
    '/bin /usr/bin /sbin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /snap/bin /lib /lib64 /usr/lib /usr/lib64 /usr/lib/git-core /usr/libexec/git-core',
  ),
);
