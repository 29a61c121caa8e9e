import { event } from '../event.ts';

/** The gateway itself, its database, settings and doors. */
export const GATEWAY_EVENTS = {
  gatewayStarted: event<{
    roles: readonly string[];
    http?: string;
    dicom?: number;
    hl7v2?: number;
  }>({
    id: 'gateway_started',
    level: 'info',
    text: 'gateway started',
    meaning: 'All roles of this process are open.',
    action: null,
  }),
  gatewayStopping: event<{ signal: string }>({
    id: 'gateway_stopping',
    level: 'info',
    text: 'gateway stopping',
    meaning:
      'The process received a signal to stop: readiness is 503; the doors close first, then running work ends.',
    action: null,
  }),
  gatewayStopForced: event<{ signal: string }>({
    id: 'gateway_stop_forced',
    level: 'warn',
    text: 'stopped at once by a second signal',
    meaning: 'A second signal ended the process before it had released its work.',
    action: 'Nothing: the next start, or another machine, continues the work within half a minute.',
  }),
  gatewayStopSlow: event<{ graceSeconds: number }>({
    id: 'gateway_stop_slow',
    level: 'error',
    text: 'the gateway did not stop in time',
    meaning:
      'Stopping took longer than `shutdown.graceSeconds`; the process ended itself. Nothing that was acknowledged is lost.',
    action: 'See the lines before this one for what was slow; the next start continues the work.',
  }),
  gatewayStopFailed: event<{ err: unknown }>({
    id: 'gateway_stop_failed',
    level: 'error',
    text: 'the gateway did not stop cleanly',
    meaning: 'A part could not be closed.',
    action: 'See the error; the next start continues the work.',
  }),
  gatewayStartFailed: event<{ err: unknown }>({
    id: 'gateway_start_failed',
    level: 'error',
    text: 'failed start could not be cleaned up',
    meaning: 'The start failed, and afterwards a part could not be closed.',
    action: 'Correct the cause of the failed start, which follows this line.',
  }),
  certificateRenewed: event<{ certFile: string; validTo: string }>({
    id: 'certificate_renewed',
    level: 'info',
    text: 'certificate renewed',
    meaning: 'New connections use the new certificate files.',
    action: null,
  }),
  certificateUnusable: event<{ err: unknown; certFile: string }>({
    id: 'certificate_unusable',
    level: 'warn',
    text: 'new certificate cannot be used yet',
    meaning: 'Certificate and key do not match, or one is missing; the old pair stays in use.',
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
    text: 'audit repository cannot be reached',
    meaning: 'Audit messages wait until the repository accepts them.',
    action: 'Check the repository and its address in the settings.',
  }),
  signInFailed: event<{ code: string; err: unknown }>({
    id: 'sign_in_failed',
    level: 'warn',
    text: 'sign-in at the identity provider failed',
    meaning: 'A person could not sign in to the console.',
    action: 'See the error; check client, secret and address of the provider.',
  }),
  refusalUnaudited: event<{ err: unknown; action: string }>({
    id: 'refusal_unaudited',
    level: 'error',
    text: 'refusal could not be audited',
    meaning: 'A refused association or call has no entry in the audit.',
    action: 'Check the database.',
  }),
  databaseMigrated: event<{ migrations: readonly string[] }>({
    id: 'database_migrated',
    level: 'info',
    text: 'database migrated',
    meaning: 'Migrations were applied at start.',
    action: null,
  }),
  databaseAway: event<{ work: string; error: string }>({
    id: 'database_away',
    level: 'warn',
    text: 'database unreachable, work waits',
    meaning: 'The work named in `work` waits for the database; logged once.',
    action: 'Check the database server.',
  }),
  workResumed: event<{ work: string }>({
    id: 'work_resumed',
    level: 'info',
    text: 'work resumed',
    meaning: 'The work named in `work` succeeds again.',
    action: null,
  }),
  databaseSessionLost: event<{ error: string }>({
    id: 'database_session_lost',
    level: 'warn',
    text: 'database session lost',
    meaning: 'PostgreSQL ended a session; a new one is opened.',
    action: 'Nothing; if it continues, check the database server.',
  }),
  databaseUpkeepFailed: event<{ error: string }>({
    id: 'database_upkeep_failed',
    level: 'warn',
    text: 'upkeep of the embedded database failed',
    meaning:
      'A table could not be vacuumed, or no checkpoint was written; it is tried again every minute. Until it succeeds, the folder of the database grows.',
    action: 'Make room if the disk is full; otherwise report the error.',
  }),
  embeddedDatabaseLost: event<{ error: string }>({
    id: 'embedded_database_lost',
    level: 'error',
    text: 'embedded database lost',
    meaning:
      'The thread of the embedded database ended; statements under way failed, and a new thread recovers the database.',
    action:
      'Report it with the log around it; if it continues, set DATABASE_URL to a PostgreSQL server.',
  }),
  rulesChanged: event<{ rules: readonly string[] }>({
    id: 'rules_changed',
    level: 'info',
    text: 'routing rules changed',
    meaning: 'The changed configuration file was loaded.',
    action: null,
  }),
  rulesUnchanged: event<{ error: string }>({
    id: 'rules_unchanged',
    level: 'error',
    text: 'changed routing rules are not valid, the old ones stay',
    meaning: 'The changed configuration file cannot be used.',
    action: 'Correct the file; `npx sonogate rules test` checks it.',
  }),
  tracesNotExported: event<{ error: string; waiting: number }>({
    id: 'traces_not_exported',
    level: 'warn',
    text: 'traces could not be exported, will retry',
    meaning:
      'The trace collector did not accept the spans; the newest 8192 are kept and sent again.',
    action: 'Check `tracing.endpoint` and the collector.',
  }),
  notReady: event<{ err: unknown; part: string }>({
    id: 'not_ready',
    level: 'warn',
    text: 'part not ready',
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
    text: 'API call',
    meaning: 'One call of the HTTP API.',
    action: null,
  }),
  callFailed: event<{ err: unknown; request_id: string }>({
    id: 'call_failed',
    level: 'error',
    text: 'call failed',
    meaning: 'A call ended with an unexpected error.',
    action: 'Report it to the developers with this line.',
  }),
  answerCutShort: event<{ err: unknown }>({
    id: 'answer_cut_short',
    level: 'error',
    text: 'answer cut short',
    meaning: 'An answer could not be sent completely.',
    action: 'Check disk and network.',
  }),
  streamCutShort: event<{ request_id: string; err: unknown }>({
    id: 'stream_cut_short',
    level: 'error',
    text: 'event stream cut short',
    meaning: 'An event stream broke; the client resumes it.',
    action: 'Check the database.',
  }),
  eventChannelSlow: event<{ key: string }>({
    id: 'event_channel_slow',
    level: 'warn',
    text: 'event channel closed, because its client reads too slowly',
    meaning: 'A client of UPS-RS did not read its event reports; the channel was closed.',
    action: 'Nothing; the client opens another channel and searches for what it missed.',
  }),
  eventReportsFailed: event<{ err: unknown }>({
    id: 'event_reports_failed',
    level: 'error',
    text: 'event reports could not be made',
    meaning:
      'The queue could not be compared with what was reported; it is tried again each second.',
    action: 'Check the database.',
  }),
  eventSubscriptionsNotRemoved: event<{ err: unknown }>({
    id: 'event_subscriptions_not_removed',
    level: 'warn',
    text: 'subscriptions to ended workitems could not be removed',
    meaning: 'They count towards the limit of their account until the next attempt, in an hour.',
    action: 'Check the database.',
  }),
  inputUrlRefused: event<{ pointer: string; reason: string }>({
    id: 'input_url_refused',
    level: 'info',
    text: 'URL of an input file refused',
    meaning: 'A client gave a URL that is not permitted.',
    action: 'Add its host to `outbound.hosts` if it should be permitted.',
  }),
  webhookUrlRefused: event<{ account: string; reason: string }>({
    id: 'webhook_url_refused',
    level: 'info',
    text: 'webhook URL refused',
    meaning: 'A client gave a URL that is not permitted.',
    action: 'Add its host to `outbound.hosts` if it should be permitted.',
  }),
  adminFailed: event<{ err: unknown; operation: string }>({
    id: 'admin_failed',
    level: 'error',
    text: 'an admin command failed',
    meaning: 'A command over the admin socket failed.',
    action: 'See the error.',
  }),
  adminShared: event({
    id: 'admin_shared',
    level: 'info',
    text: 'another process of this gateway serves the admin socket',
    meaning: 'That process serves the commands.',
    action: null,
  }),
} as const;
