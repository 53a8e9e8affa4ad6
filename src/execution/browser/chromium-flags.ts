/** Features that would talk to somebody by themselves, or get in the way of whoever drives the browser. */
const OFF = [
  'AcceptCHFrame',
  'AutofillServerCommunication',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'CertificateTransparencyComponentUpdater',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  // A page that is made before anybody goes there comes without a request that could be stopped.
  'Prerender2',
  'SpeculationRulesPrefetchFuture',
  'Translate',
];

/**
 * Words of the command line. It is driven over two pipes, never a port; every request goes to the proxy of its context; names are never
 * looked up by the browser itself; and what isn't HTTP (QUIC, WebRTC's UDP) is off. `inner`: its renderers build sandboxes of their own.
 */
export function chromiumFlags(profile: string, inner: boolean): readonly string[] {
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    ...(inner ? [] : ['--no-sandbox']),
    // A context without a proxy of its own reaches nobody.
    '--proxy-server=http://127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-client-side-phishing-detection',
    '--disable-domain-reliability',
    '--disable-sync',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-default-apps',
    '--disable-extensions',
    '--disable-field-trial-config',
    '--disable-search-engine-choice-screen',
    '--disable-back-forward-cache',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-ipc-flooding-protection',
    '--disable-hang-monitor',
    '--disable-prompt-on-repost',
    '--disable-gpu',
    '--mute-audio',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    '--metrics-recording-only',
    '--no-first-run',
    // A window of its own would show a page that talks to its maker.
    '--no-startup-window',
    '--no-default-browser-check',
    '--no-service-autorun',
    '--no-pings',
    '--password-store=basic',
    '--use-mock-keychain',
    `--disable-features=${OFF.join(',')}`,
  ];
}
