import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../../config/load.ts';
import type { RoutingRule } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import { statusHex } from '../../../dimse/network/status.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { RESEARCH_NOTICE } from '../../../pipelines/result/render/shared.ts';
import { isConclusive } from '../../../pipelines/result/section-outcome.ts';
import { FINAL_STATUS } from '../../core/requests/request.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { createLogger } from '../../platform/logging/logger.ts';
import { type Gateway, startGateway } from '../main.ts';
import { storeByDcmjs } from '../simulate/dcmjs-client.ts';
import { type StoredObject, startPacs } from '../simulate/pacs.ts';
import { type DemoEhr, startDemoEhr } from './ehr.ts';
import {
  comparisonTable,
  DEMO_STUDIES,
  type DemoStudy,
  type DemoStudyName,
  PATIENT_ID_SYSTEM,
  phantomStudy,
  registerPatient,
} from './phantom-studies.ts';
import { reviewScripted, sideBySide } from './review.ts';

interface DemoOptions {
  /** Folder for all files of the demo; by default a new temporary folder. */
  out?: string;
  /**
   * Whether a script reviews and signs each result; the demo then prints the changes in its
   * documents.
   */
  review?: boolean;
  /** Whether the gateway keeps running until SIGINT or SIGTERM. */
  stay?: boolean;
  seed: number;
  /** The studies to run; all studies if absent. */
  only?: readonly DemoStudyName[];
}

const LOOPBACK = '127.0.0.1';
const CART_AE_TITLE = 'PHANTOM-CART';
const GIVE_UP_SECONDS = 300;
const POLL_MS = 250;

/**
 * The minimum number of sections of each endpoint that a full run of the demo must assess. A
 * section counts if it was assessed in at least one study.
 */
const LEAST_ASSESSED: Readonly<Record<string, number>> = {
  'us/obstetric/interpret': 12,
  'us/echo/interpret': 13,
};

/** Returns a default rule that also requests a draft report and delivers to the demo's peers. */
function withDestinations(rule: RoutingRule): RoutingRule {
  if (!rule.run) return rule;
  const run = { ...rule.run, options: { ...rule.run.options, report: true } };
  return { ...rule, run, deliverTo: ['demo-pacs', 'demo-ehr'] };
}

/**
 * Demo settings that override the configured ones: free ports, loopback peers, short waits, and a
 * gateway's default routing rules.
 */
function demoOverrides(dataDir: string, pacsPort: number, ehrUrl: string) {
  const { routing } = loadConfig({});
  return {
    dataDir,
    roles: ['api', 'dimse', 'worker', 'delivery'],
    http: { host: LOOPBACK, port: 0 },
    dicom: { host: LOOPBACK, port: 0 },
    sources: [
      {
        name: 'phantom-cart',
        callingAeTitles: [CART_AE_TITLE],
        addresses: [LOOPBACK],
        completion: { signal: 'association-release', quietSeconds: 30, afterReleaseSeconds: 1 },
      },
    ],
    destinations: [
      {
        type: 'dicom',
        name: 'demo-pacs',
        host: LOOPBACK,
        port: pacsPort,
        aeTitle: 'PACS',
        objects: ['sr-tid1500', 'sr-tid5000', 'sr-echo', 'seg'],
      },
      {
        type: 'fhir',
        name: 'demo-ehr',
        baseUrl: ehrUrl,
        resultSystem: 'https://sonogate.example/fhir/result',
        patientIdentifierSystems: { '*': PATIENT_ID_SYSTEM },
      },
    ],
    // The studies are phantoms, so values that were validated on simulated images are accepted.
    evidence: { accept: 'simulated' },
    routing: { ...routing, rules: routing.rules.map(withDestinations) },
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * Runs the gateway end to end on this host: phantom studies arrive over real associations, SR
 * objects are sent to a PACS, and DiagnosticReports are sent to an EHR.
 * @returns the exit status: 0 if everything arrived, every size that must be measured was measured
 * and, in a full run, enough sections were assessed.
 */
export async function demo(options: DemoOptions): Promise<number> {
  const out = options.out ? resolve(options.out) : await mkdtemp(join(tmpdir(), 'sonogate-demo-'));
  await mkdir(out, { recursive: true });
  const ends: (() => Promise<void>)[] = [];
  try {
    // The demo's output is for a person, so the gateway log is written to a file.
    const log = createWriteStream(join(out, 'gateway.log'));
    ends.push(() => new Promise((done) => log.end(done)));
    const logger = createLogger(process.env.SONOGATE_LOG_LEVEL ?? 'info', log);
    const received: StoredObject[] = [];
    const pacs = await startPacs({
      folder: join(out, 'pacs'),
      host: LOOPBACK,
      port: 0,
      onObject: (object) => received.push(object),
    });
    ends.push(() => pacs.close());
    const ehr = await startDemoEhr();
    ends.push(() => ehr.close());
    const overrides = demoOverrides(join(out, 'data'), pacs.port, ehr.baseUrl);
    const config = loadConfig(process.env, overrides);
    const gateway = await startGateway(config, logger);
    ends.push(() => gateway.close());
    const status = await runDemo({ options, out, config, gateway, ehr, received });
    if (options.stay) await stay(gateway);
    return status;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface Stage {
  options: DemoOptions;
  out: string;
  config: Config;
  gateway: Gateway;
  ehr: DemoEhr;
  received: readonly StoredObject[];
}

async function runDemo(stageOf: Stage): Promise<number> {
  const { options, out, config, gateway, ehr, received } = stageOf;
  const { http, dicom } = gateway;
  if (!http || !dicom) throw new Error('the demo needs the roles api and dimse');
  say(`Gateway   ${http.url}, DICOM ${config.dicom.aeTitle}@${LOOPBACK}:${dicom.port}`);
  say(
    `          database ${config.databaseUrl ? 'PostgreSQL' : 'embedded'}, queue ${config.redisUrl ? 'Redis' : 'in the database'}`,
  );
  say(`          ${RESEARCH_NOTICE} (evidence.accept)`);
  say(`          log in ${join(out, 'gateway.log')}`);
  say(
    'Cart, PACS dcmjs-dimse, a DICOM implementation that shares no network code with the gateway',
  );
  let complete = true;
  const results: Result[] = [];
  const sent = options.only ?? DEMO_STUDIES;
  for (const name of sent) {
    say('');
    const study = await phantomStudy(name, options.seed);
    const end = await runStudy(stageOf, study, dicom.port);
    results.push(...end.results);
    complete = end.complete && complete;
  }
  say('');
  const everyStudy = DEMO_STUDIES.every((name) => sent.includes(name));
  for (const { endpoint, assessed, all } of assessedOf(results)) {
    say(`Sections  of ${endpoint}, all studies: ${assessed} of ${all} assessed`);
    if (everyStudy && assessed < (LEAST_ASSESSED[endpoint] ?? 0)) complete = false;
  }
  await writeEhr(ehr, join(out, 'ehr'));
  say('');
  for (const object of received) say(`PACS      ${object.path}`);
  const reports = ehr.resources('DiagnosticReport');
  const observations = ehr.resources('Observation');
  say(
    `EHR       ${reports.length} DiagnosticReport (${reports.map((r) => r.status).join(', ')}), ${observations.length} Observations in ${join(out, 'ehr')}`,
  );
  say(
    'Every output is an unverified, AI-generated draft, unless a script has signed it in place of a',
  );
  say('clinician; the phantoms are not patients.');
  const arrived = results.length === 0 || (received.length > 0 && reports.length > 0);
  if (!complete || !arrived) say('NOT COMPLETE: something did not arrive, see above.');
  return complete && arrived ? 0 : 1;
}

/**
 * For each endpoint, counts all sections and the sections that at least one of its results
 * assessed.
 */
function assessedOf(results: readonly Result[]) {
  return [...Map.groupBy(results, ({ endpoint }) => endpoint)].map(([endpoint, own]) => ({
    endpoint,
    assessed: new Set(own.flatMap(({ sections }) => sections.filter(isConclusive).map(idOf))).size,
    all: new Set(own.flatMap(({ sections }) => sections.map(idOf))).size,
  }));
}

const idOf = ({ id }: Result['sections'][number]) => id;

interface StudyEnd {
  complete: boolean;
  results: Result[];
}

/**
 * Sends one study, waits until the peers have its results, and then does the same for the study's
 * late objects. Resolves to the results and to whether all of them are complete and arrived.
 */
async function runStudy(stageOf: Stage, study: DemoStudy, port: number): Promise<StudyEnd> {
  const { out, gateway, ehr } = stageOf;
  const folder = join(out, 'study', study.name);
  await mkdir(folder, { recursive: true });
  for (const { name, bytes } of study.files) await writeFile(join(folder, name), bytes);
  await registerPatient(ehr.baseUrl, study.patient);
  say(`Study     ${study.what}, in ${folder}`);
  const inTime = study.files.slice(0, study.files.length - study.late);
  await sendStudy(stageOf, inTime, port);
  if (study.name === 'unrecognised') return { complete: await isHeld(gateway, study), results: [] };
  const first = await runRevision(stageOf, study, 1);
  if (study.late === 0) return first;
  say('');
  say(`Late      ${study.late} more object of the same study, which is interpreted again`);
  await sendStudy(stageOf, study.files.slice(inTime.length), port);
  const second = await runRevision(stageOf, study, 2);
  return {
    complete: first.complete && second.complete,
    results: [...first.results, ...second.results],
  };
}

async function sendStudy({ config }: Stage, files: DemoStudy['files'], port: number) {
  const { aeTitle } = config.dicom;
  const stored = await storeByDcmjs(
    { host: LOOPBACK, port, aeTitle, callingAeTitle: CART_AE_TITLE },
    files.map(({ bytes }) => bytes),
  );
  const refused = stored.find(({ status }) => status !== 0);
  if (refused) {
    const { sopInstanceUid, status } = refused;
    const why = status === null ? 'no answer' : `status ${statusHex(status)}`;
    throw new Error(`C-STORE of ${sopInstanceUid} failed: ${why}`);
  }
  say(
    `C-STORE   ${stored.length} ${stored.length === 1 ? 'object' : 'objects'} accepted over one dcmjs-dimse association`,
  );
}

/**
 * Checks that a study not recognised by any rule waits for a person, and prints how that person can
 * decide.
 */
async function isHeld(gateway: Gateway, { studyInstanceUid: study }: DemoStudy): Promise<boolean> {
  const { state, reason, rules } = await waitFor(
    'the rules to be applied to the study',
    async () => {
      const told = await gateway.run('studies.explain', { study });
      return told.state === 'receiving' || told.state === 'complete' ? null : told;
    },
  );
  for (const line of rulesInWords(rules)) say(line);
  say(`State     ${state}: ${reason ?? ''}`);
  say(
    `          a person decides: npx sonogate studies release ${study} --rule NAME, or the console`,
  );
  return state === 'held';
}

/**
 * Follows one interpretation of a study through to its deliveries. If the study has late objects,
 * its last interpretation corrects the previous one.
 */
async function runRevision(stageOf: Stage, study: DemoStudy, revision: number): Promise<StudyEnd> {
  const { options, out, gateway } = stageOf;
  const { requestId, rules } = await requestOf(gateway, study.studyInstanceUid, revision);
  if (revision === 1) for (const line of rulesInWords(rules)) say(line);
  const result = await resultOf(gateway, requestId);
  say(
    `Request   ${requestId} succeeded; models: ${result.models.map((m) => `${m.id} ${m.version} (${m.pack})`).join(', ')}`,
  );
  const drafts = await deliveriesOf(gateway, requestId);
  const rows = study.compare(result);
  if (rows.length > 0) {
    say('');
    for (const line of comparisonTable(rows)) say(`  ${line}`);
  }
  sayFound(result);
  // A study with late objects is signed only after they were interpreted. If its first report were
  // signed, that report would be final in the EHR, and the draft of the second revision would not
  // replace it.
  const reviewed = revision > 1 || (options.review && study.late === 0);
  if (reviewed) await review(gateway, requestId, study.name);
  const deliveries = reviewed ? await deliveriesOf(gateway, requestId) : drafts;
  const ofDraft = new Set(drafts.map(({ id }) => id));
  const inOrder = deliveries.toSorted(
    (one, other) => +ofDraft.has(other.id) - +ofDraft.has(one.id),
  );
  for (const { id, object, destination, state, detail, not_sent } of inOrder) {
    const what = `${ofDraft.has(id) ? 'draft ' : 'signed'} ${object.padEnd(11)}`;
    const outcome = not_sent ? [detail] : [state, detail];
    say(`Delivery  ${what} → ${destination}: ${outcome.filter(Boolean).join(', ')}`);
  }
  say(`Result    ${join(out, 'data', 'results', requestId)}`);
  const missing = study.everySize ? rows.filter(({ measured }) => measured === null) : [];
  if (missing.length > 0) say(`NOT MEASURED: ${missing.map(({ name }) => name).join(', ')}.`);
  const delivered = deliveries.every(({ state }) => state === 'delivered');
  return { complete: missing.length === 0 && delivered, results: [result] };
}

function sayFound(result: Result): void {
  say('');
  for (const section of result.sections) {
    say(
      `  ${section.id.padEnd(21)} ${section.status}${section.reason ? `: ${section.reason.detail}` : ''}`,
    );
  }
  const assessed = result.sections.filter(isConclusive);
  say('');
  say(`Sections  ${assessed.length} of ${result.sections.length} assessed`);
  for (const line of result.report?.impression ?? []) say(`Draft     ${line}`);
}

type RuleVerdict = CommandAnswer<'studies.explain'>['rules'][number];
type Condition = RuleVerdict['conditions'][number];

/** Describes the rule that acts, including the values it recognised. */
function rulesInWords(rules: readonly RuleVerdict[]): string[] {
  return rules
    .filter(({ acts }) => acts)
    .map(({ rule, conditions }) => {
      const seen = conditions.flatMap(recognised).join('; ');
      return `Rule      ${rule} ${seen ? `applies: ${seen}` : 'applies to whatever no other rule recognises'}`;
    });
}

function recognised({ condition, found, holds, parts }: Condition): string[] {
  if (!holds || condition === 'not') return [];
  return parts ? parts.flatMap(recognised) : [`${condition} "${found}"`];
}

/**
 * Reviews and signs a result, and prints the differences between the draft and the signed document.
 */
async function review(gateway: Gateway, requestId: string, name: DemoStudyName): Promise<void> {
  const { steps, sr, bundle } = await reviewScripted(gateway, requestId, name);
  for (const step of steps) say(`Review    ${step}`);
  for (const [title, { before, after }] of [
    ['SR, TID 1500', sr],
    ['FHIR bundle', bundle],
  ] as const) {
    say('');
    say(`  ${title}: the lines that differ, draft on the left and signed result on the right`);
    for (const line of sideBySide(before, after, process.stdout.columns)) say(`  ${line}`);
  }
  say('');
}

async function requestOf(gateway: Gateway, study: string, revision: number) {
  return waitFor('the study to be submitted as a request', async () => {
    const { requests, rules } = await gateway.run('studies.explain', { study });
    const request = requests.find((one) => one.revision === revision);
    return request ? { requestId: request.request_id, rules } : null;
  });
}

async function resultOf(gateway: Gateway, id: string): Promise<Result> {
  const row = await waitFor('the request to end', async (seen) => {
    const current = await gateway.core.get(id, null);
    seen([current?.status, current?.stage?.name, current?.stage?.progress].join(' '));
    return current && FINAL_STATUS.has(current.status) ? current : null;
  });
  if (row.status !== 'succeeded') {
    throw new Error(`the request ended as ${row.status}: ${row.fault?.detail ?? 'no detail'}`);
  }
  return resultSchema.parse(await gateway.core.result(id));
}

/** Waits until each delivery has been confirmed by its peer or is dead. */
async function deliveriesOf(
  gateway: Gateway,
  requestId: string,
): Promise<CommandAnswer<'deliveries.list'>> {
  return waitFor('the deliveries', async () => {
    const all = await gateway.run('deliveries.list', {});
    const own = all.filter((delivery) => delivery.request_id === requestId);
    return own.every(({ state }) => state === 'delivered' || state === 'dead') ? own : null;
  });
}

/**
 * Waits until `look` finds something. Gives up when the state has not changed for
 * `GIVE_UP_SECONDS`; there is no limit on the total time, because a busy host may be slow.
 * @param look receives a function with which it can report the current state.
 */
async function waitFor<T>(
  what: string,
  look: (seen: (state: string) => void) => Promise<T | null>,
): Promise<T> {
  let changedAt = Date.now();
  let last = '';
  const seen = (state: string) => {
    if (state !== last) changedAt = Date.now();
    last = state;
  };
  while (Date.now() - changedAt < GIVE_UP_SECONDS * 1000) {
    const found = await look(seen);
    if (found !== null) return found;
    await delay(POLL_MS);
  }
  throw new Error(`gave up after ${GIVE_UP_SECONDS} s waiting for ${what}`);
}

async function writeEhr(ehr: DemoEhr, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const type of ['DiagnosticReport', 'Observation', 'Device', 'ImagingStudy'] as const) {
    await writeFile(
      join(folder, `${type}.json`),
      `${JSON.stringify(ehr.resources(type), null, 2)}\n`,
    );
  }
}

async function stay(gateway: Gateway): Promise<void> {
  const made = await gateway.run('keys.create', {
    name: 'demo',
    consoleRole: 'administrator',
  });
  say('');
  say(`Console   ${gateway.http?.url}/console/`);
  say(`          sign in with the key ${made.key}`);
  say('Running until interrupted (Ctrl-C).');
  await new Promise<void>((done) => {
    process.once('SIGINT', () => done());
    process.once('SIGTERM', () => done());
  });
}
