export { createAttempts } from './attempts.ts';
export { authorizedFetch } from './authorized-fetch.ts';
export { readKeysFile } from './keys-file.ts';
export { createLiveLogin, type LiveLogin } from './live-login.ts';
export { type Begun, beginLogin, finishLogin } from './log-in.ts';
export { logOut } from './log-out.ts';
export { createLogins } from './logins.ts';
export { openLoopback } from './loopback.ts';
export { LOGIN_NEWS, type LoginTarget, loginKeyOf } from './types.ts';
