import { event } from '../event.ts';

/** The gateway itself, its database, settings and doors. */
export const GATEWAY_EVENTS = {
  gatewayStarted: event<{ roles: readonly string[]; http?: string; dicom?: number }>({
    id: 'gateway_started',
    level: 'info',
    text: 'gateway started',
    meaning: 'All roles of this process are open.',
    action: null,
  }),
  gatewayStopping: event<{ signal: string }>({
    id: 'gateway_stopping',
    level: 'info',
    text: 'stopping',
    meaning:
      'A signal to stop came: readiness is 503, doors close first, then the work behind them.',
    action: null,
  }),
  gatewayStopForced: event<{ signal: string }>({
    id: 'gateway_stop_forced',
    level: 'warn',
    text: 'stopped by a second signal',
    meaning: 'A second signal ended the process before all was handed back.',
    action: 'Nothing: the next start, or another machine, takes up the rest within half a minute.',
  }),
  gatewayStopSlow: event<{ graceSeconds: number }>({
    id: 'gateway_stop_slow',
    level: 'error',
    text: 'the gateway did not stop in time',
    meaning:
      'Stopping took longer than `shutdown.graceSeconds`; the process ended itself. Nothing acknowledged is lost.',
    action: 'Look for what was slow in the lines before; the next start takes up the rest.',
  }),
  gatewayStopFailed: event<{ err: unknown }>({
    id: 'gateway_stop_failed',
    level: 'error',
    text: 'the gateway did not stop cleanly',
    meaning: 'A part could not be closed.',
    action: 'Read the error; the next start takes up what was left.',
  }),
  gatewayStartFailed: event<{ err: unknown }>({
    id: 'gateway_start_failed',
    level: 'error',
    text: 'could not close',
    meaning: 'The start failed, and after it a part could not be closed.',
    action: 'Mend the cause of the failed start, which stands below this line.',
  }),
  certificateRenewed: event<{ certFile: string; validTo: string }>({
    id: 'certificate_renewed',
    level: 'info',
    text: 'certificate renewed',
    meaning: 'New certificate files serve new connections.',
    action: null,
  }),
  certificateUnusable: event<{ err: unknown; certFile: string }>({
    id: 'certificate_unusable',
    level: 'warn',
    text: 'new certificate cannot be used yet',
    meaning:
      'Certificate and key do not belong together, or one is missing; the old pair serves on.',
    action: 'Put both files in place.',
  }),
  auditUnsealed: event<{ err: unknown }>({
    id: 'audit_unsealed',
    level: 'error',
    text: 'the audit could not be sealed, will retry',
    meaning: 'New rows of the audit have no seal yet.',
    action: 'Check database and data folder.',
  }),
  auditRepositoryAway: event<{ err: unknown; repository: string; failures: number }>({
    id: 'audit_repository_away',
    level: 'warn',
    text: 'audit repository not reached',
    meaning: 'Audit messages wait until the repository takes them.',
    action: 'Check the repository and its address in the settings.',
  }),
  signInFailed: event<{ code: string; err: unknown }>({
    id: 'sign_in_failed',
    level: 'warn',
    text: 'sign-in at the identity provider failed',
    meaning: 'A person could not sign in to the console.',
    action: 'Read the error; compare client, secret and address of the provider.',
  }),
  refusalUnaudited: event<{ err: unknown; action: string }>({
    id: 'refusal_unaudited',
    level: 'error',
    text: 'refusal not written to the audit',
    meaning: 'A refused association or call has no entry in the audit.',
    action: 'Check the database.',
  }),
  databaseMigrated: event<{ migrations: readonly string[] }>({
    id: 'database_migrated',
    level: 'info',
    text: 'database brought up to date',
    meaning: 'Migrations were applied at the start.',
    action: null,
  }),
  databaseAway: event<{ work: string; error: string }>({
    id: 'database_away',
    level: 'warn',
    text: 'the database is away, work waits',
    meaning: 'The work that `work` names waits for the database; this is said once.',
    action: 'Look at the database server.',
  }),
  workResumed: event<{ work: string }>({
    id: 'work_resumed',
    level: 'info',
    text: 'work goes on',
    meaning: 'What had failed before is done again.',
    action: null,
  }),
  databaseSessionLost: event<{ error: string }>({
    id: 'database_session_lost',
    level: 'warn',
    text: 'database session lost',
    meaning: 'PostgreSQL ended a session; another is opened.',
    action: 'Nothing, unless it goes on: then look at the database server.',
  }),
  rulesChanged: event<{ rules: readonly string[] }>({
    id: 'rules_changed',
    level: 'info',
    text: 'routing rules changed',
    meaning: 'The file of settings was read anew.',
    action: null,
  }),
  rulesUnchanged: event<{ error: string }>({
    id: 'rules_unchanged',
    level: 'error',
    text: 'the routing rules stay as they were',
    meaning: 'The changed file of settings cannot be used.',
    action: 'Mend the file; `npx sonogate rules test` tries it.',
  }),
  tracesNotExported: event<{ error: string; waiting: number }>({
    id: 'traces_not_exported',
    level: 'warn',
    text: 'traces not exported',
    meaning:
      'The trace collector did not take the spans; the newest 8192 are kept and tried again.',
    action: 'Check `tracing.endpoint` and the collector.',
  }),
  notReady: event<{ err: unknown; part: string }>({
    id: 'not_ready',
    level: 'warn',
    text: 'not ready',
    meaning: 'A part did not answer the readiness probe.',
    action: 'Check that part.',
  }),
  call: event<{
    request_id: string;
    key: string;
    method: string;
    route: unknown;
    status: number;
    ms: number;
  }>({
    id: 'call',
    level: 'info',
    text: 'call',
    meaning: 'One call of the HTTP API.',
    action: null,
  }),
  callFailed: event<{ err: unknown; request_id: string }>({
    id: 'call_failed',
    level: 'error',
    text: 'call failed',
    meaning: 'A call ended with an unexpected error.',
    action: 'Send the line to the makers.',
  }),
  answerCutShort: event<{ err: unknown }>({
    id: 'answer_cut_short',
    level: 'error',
    text: 'answer cut short',
    meaning: 'An answer could not be sent to its end.',
    action: 'Check disk and network.',
  }),
  streamCutShort: event<{ request_id: string; err: unknown }>({
    id: 'stream_cut_short',
    level: 'error',
    text: 'event stream cut short',
    meaning: 'An event stream broke; the client resumes.',
    action: 'Check the database.',
  }),
  inputUrlRefused: event<{ pointer: string; reason: string }>({
    id: 'input_url_refused',
    level: 'info',
    text: 'URL of an input file refused',
    meaning: 'A client named an address that is not permitted.',
    action: 'Add it to `outbound.hosts` if it should be.',
  }),
  webhookUrlRefused: event<{ account: string; reason: string }>({
    id: 'webhook_url_refused',
    level: 'info',
    text: 'webhook URL refused',
    meaning: 'A client named an address that is not permitted.',
    action: 'Add it to `outbound.hosts` if it should be.',
  }),
  adminFailed: event<{ err: unknown; operation: string }>({
    id: 'admin_failed',
    level: 'error',
    text: 'an admin command failed',
    meaning: 'A command over the admin socket failed.',
    action: 'Read the error.',
  }),
  adminShared: event({
    id: 'admin_shared',
    level: 'info',
    text: 'another process of this gateway serves the admin socket',
    meaning: 'Commands reach that process.',
    action: null,
  }),
} as const;
