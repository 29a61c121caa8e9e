import { event } from '../event.ts';

export const GATEWAY_EVENTS = {
  gateway_started: event<{
    version: string;
    commit?: string | undefined;
    roles: readonly string[];
    http?: string;
    dicom?: number;
    hl7v2?: number;
  }>({
    level: 'info',
    text: 'gateway started',
    meaning: 'All roles of this process are running.',
  }),
  gateway_stopping: event<{ signal: string }>({
    level: 'info',
    text: 'gateway stopping',
    meaning:
      'The process received a signal to stop: `/health/ready` answers 503, the listeners close, and then running work ends.',
  }),
  gateway_stop_forced: event<{ signal: string }>({
    level: 'warn',
    text: 'stopped at once by a second signal',
    meaning: 'A second signal ended the process before it had released its work.',
    action:
      'Nothing: after a restart, or on another host, the work continues within half a minute.',
  }),
  gateway_stop_slow: event<{ graceSeconds: number }>({
    level: 'error',
    text: 'the gateway did not stop in time',
    meaning:
      'Stopping took longer than `shutdown.graceSeconds`; the process ended itself. Nothing that was acknowledged is lost.',
    action: 'The preceding lines show what was slow; the work continues after the next startup.',
  }),
  gateway_stop_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'the gateway did not stop cleanly',
    meaning: 'A component could not be closed.',
    action: 'See the error; the work continues after the next startup.',
  }),
  gateway_start_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'cleanup after a failed startup was incomplete',
    meaning: 'Startup failed, and a component could then not be closed.',
    action: 'Correct the cause of the failed startup, which is logged after this line.',
  }),
  clock_jumped: event<{ seconds: number }>({
    level: 'warn',
    text: 'clock was changed',
    meaning:
      'The clock of the database jumped by `seconds`; negative: it was set back, perhaps while the gateway was stopped. Deliveries that would then wait too long are sent at once.',
    action:
      'Check the time synchronisation of the database server. Times recorded before this line may be wrong.',
  }),
  certificate_renewed: event<{ certFile: string; validTo: string }>({
    level: 'info',
    text: 'certificate renewed',
    meaning: 'New connections use the new certificate files.',
  }),
  certificate_unusable: event<{ err: unknown; certFile: string }>({
    level: 'warn',
    text: 'new certificate cannot be used yet',
    meaning: 'The certificate and key do not match, or one is missing; the old pair stays in use.',
    action: 'Install both files of the new pair.',
  }),
  audit_unsealed: event<{ err: unknown }>({
    level: 'error',
    text: 'audit trail could not be sealed, will retry',
    meaning: 'New rows of the audit trail have no seal yet.',
    action: 'Check the database and the data folder.',
  }),
  audit_repository_away: event<{ err: unknown; repository: string; failures: number }>({
    level: 'warn',
    text: 'audit repository cannot be reached',
    meaning: 'Audit messages wait until the repository accepts them.',
    action: 'Check the repository and its address in the settings.',
  }),
  sign_in_failed: event<{ code: string; err: unknown }>({
    level: 'warn',
    text: 'sign-in with the identity provider failed',
    meaning: 'A person could not sign in to the console.',
    action: 'See the error; check the client ID, secret and address of the provider.',
  }),
  refusal_unaudited: event<{ err: unknown; action: string }>({
    level: 'error',
    text: 'refusal could not be audited',
    meaning: 'A refused association or call has no entry in the audit trail.',
    action: 'Check the database.',
  }),
  database_migrated: event<{ migrations: readonly string[] }>({
    level: 'info',
    text: 'database migrated',
    meaning: 'Database migrations were applied at startup.',
  }),
  migration_waits: event<{ error: string }>({
    level: 'info',
    text: 'the tables are in use, the migration is repeated',
    meaning:
      'During an upgrade, older processes use the tables that this version changes. The start repeats the change for up to two minutes.',
    action:
      'None, if `database_migrated` follows. Otherwise stop the older processes for a moment.',
  }),
  database_away: event<{ work: string; error: string }>({
    level: 'warn',
    text: 'database not available, work waits',
    meaning: 'The work named in `work` waits for the database; this is logged once per outage.',
    action: 'Check the database server; `error` states what it lacks.',
  }),
  work_resumed: event<{ work: string }>({
    level: 'info',
    text: 'work resumed',
    meaning: 'The work named in `work` succeeds again.',
  }),
  database_session_lost: event<{ error: string }>({
    level: 'warn',
    text: 'database session lost',
    meaning: 'PostgreSQL ended a session; a new one is opened.',
    action: 'Nothing; if it continues, check the database server.',
  }),
  database_upkeep_failed: event<{ error: string }>({
    level: 'warn',
    text: 'maintenance of the embedded database failed',
    meaning:
      'A table could not be vacuumed, or no checkpoint was written; it is tried again every minute. Until it succeeds, the database folder grows.',
    action: 'Free some space if the disk is full; otherwise report the error.',
  }),
  embedded_database_lost: event<{ error: string }>({
    level: 'error',
    text: 'embedded database lost',
    meaning:
      'The thread of the embedded database ended; statements in progress failed, and a new thread recovers the database.',
    action:
      'Report it with the log around it; if it continues, set DATABASE_URL to a PostgreSQL server.',
  }),
  rules_changed: event<{ rules: readonly string[] }>({
    level: 'info',
    text: 'routing rules changed',
    meaning: 'The changed configuration file was loaded.',
  }),
  rules_unchanged: event<{ error: string }>({
    level: 'error',
    text: 'changed routing rules are not valid, the old ones stay in force',
    meaning: 'The changed configuration file cannot be used.',
    action: 'Correct the file; `npx sonogate rules test` checks it.',
  }),
  traces_not_exported: event<{ error: string; waiting: number }>({
    level: 'warn',
    text: 'traces could not be exported, will retry',
    meaning:
      'The trace collector did not accept the spans; the latest 8192 are kept and sent again.',
    action: 'Check `tracing.endpoint` and the collector.',
  }),
  not_ready: event<{ err: unknown; part: string }>({
    level: 'warn',
    text: 'component not ready',
    meaning: 'A component failed the readiness check.',
    action: 'Check the component named in `part`.',
  }),
  call: event<{
    request_id: string;
    key: string;
    method: string;
    route: unknown;
    status: number;
    ms: number;
  }>({
    level: 'info',
    text: 'API call',
    meaning: 'One call to the HTTP API.',
  }),
  call_failed: event<{ err: unknown; request_id: string }>({
    level: 'error',
    text: 'call failed',
    meaning: 'A call ended with an unexpected error.',
    action: 'Report it to the developers with this line.',
  }),
  answer_cut_short: event<{ err: unknown }>({
    level: 'error',
    text: 'response cut short',
    meaning: 'A response could not be sent completely.',
    action: 'Check the disk and the network.',
  }),
  stream_cut_short: event<{ request_id: string; err: unknown }>({
    level: 'error',
    text: 'event stream cut short',
    meaning: 'An event stream broke; the client resumes it.',
    action: 'Check the database.',
  }),
  event_channel_slow: event<{ key: string }>({
    level: 'warn',
    text: 'event channel closed because its client reads too slowly',
    meaning: 'A UPS-RS client did not read its event reports, so the channel was closed.',
    action: 'Nothing; the client is expected to open a new channel and search for what it missed.',
  }),
  event_reports_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'event reports could not be created',
    meaning:
      'The queue could not be compared with the reported states; it is tried again every second.',
    action: 'Check the database.',
  }),
  event_subscriptions_not_removed: event<{ err: unknown }>({
    level: 'warn',
    text: 'subscriptions to ended workitems could not be removed',
    meaning:
      'The subscriptions count towards the limit of their account until the next attempt, in an hour.',
    action: 'Check the database.',
  }),
  input_url_refused: event<{ pointer: string; reason: string }>({
    level: 'info',
    text: 'URL of an input file refused',
    meaning: 'A client sent a URL that is not permitted.',
    action: 'Add its host to `outbound.hosts` if it should be permitted.',
  }),
  webhook_url_refused: event<{ account: string; reason: string }>({
    level: 'info',
    text: 'webhook URL refused',
    meaning: 'A client sent a URL that is not permitted.',
    action: 'Add its host to `outbound.hosts` if it should be permitted.',
  }),
  admin_failed: event<{ err: unknown; operation: string }>({
    level: 'error',
    text: 'an admin command failed',
    meaning: 'A command over the admin socket failed.',
    action: 'See the error.',
  }),
  admin_shared: event({
    level: 'info',
    text: 'another process of this gateway serves the admin socket',
    meaning: 'The other process executes the commands.',
  }),
} as const;
