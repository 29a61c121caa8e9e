import { z } from 'zod';
import { routingSchema } from '../../config/routing.ts';
import { WITHDRAWAL_REASON_CODES } from '../../pipelines/contract/withdrawal.ts';
import { OVERLAP_HOURS, SCOPES } from '../core/accounts/keys.ts';
import { CONSOLE_ROLES } from '../core/accounts/roles.ts';
import {
  type AuditAction,
  type AuditEntry,
  keyChange,
  type RecordAction,
  recordedFirst,
  type WriteAudit,
} from '../core/audit/audit.ts';
import type { DeliveryRow } from '../core/outbox/deliveries.ts';
import { DELIVERY_STATES } from '../core/outbox/delivery.ts';
import { MERGE_DECISIONS } from '../core/patients/merges.ts';
import type { ChangedStudy } from '../core/studies/commands.ts';
import { STUDY_STATE } from '../core/studies/study-store.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import type { HeldReport, Operations, StoredOperations } from './operations.ts';

interface Command<Schema extends z.ZodType, Answer> {
  parameters: Schema;
  /** @param by who runs the command; null if the caller does not say. */
  run(operations: Operations, parameters: z.output<Schema>, by: string | null): Promise<Answer>;
  /**
   * Validates parameters as received, runs the command and audits it.
   * @throws SonogateError `invalid_input`
   */
  runUnchecked(call: Call): Promise<Answer>;
}

interface Call {
  operations: Operations;
  parameters: unknown;
  /** Who runs the command, as received. */
  person: unknown;
  writeAudit: WriteAudit;
}

/** What a command concerns, for its audit entry. */
type Concern = Pick<AuditEntry, 'requestId' | 'studyId' | 'detail'>;

/**
 * Returns what a command concerns.
 * @param answer null if the command was refused. Then only the detail is recorded, because the
 * request or study may not exist.
 */
type About<Schema extends z.ZodType, Answer> = (
  parameters: z.output<Schema>,
  answer: Answer | null,
) => Concern;

/**
 * Defines a command.
 * @param audit audit action, recorded with the person who ran the command; null if the command
 * changes nothing and shows no patient, or writes its own entries.
 */
function command<Schema extends z.ZodType, Answer>(
  parameters: Schema,
  audit: AuditAction | null,
  run: Command<Schema, Answer>['run'],
  about: About<Schema, Answer> = () => ({}),
): Command<Schema, Answer> {
  return {
    parameters,
    run,
    runUnchecked: (call) => {
      const { operations, writeAudit } = call;
      const work = async (on: Operations) =>
        run(on, checked(parameters, call.parameters), personIn(call));
      if (audit === null) return work(operations);
      const concern = concernOf(parameters, call, about);
      return audited(audit, { ...call, concern }, work, (both) => both(operations, writeAudit));
    },
  };
}

/** Defines a command that changes files: its audit entry is written before they are changed. */
function onFiles<Schema extends z.ZodType, Answer>(
  parameters: Schema,
  audit: AuditAction,
  run: (
    operations: Operations,
    parameters: z.output<Schema>,
    record: RecordAction,
  ) => Promise<Answer>,
  about: About<Schema, Answer>,
): Command<Schema, Answer> {
  return {
    parameters,
    run: (operations, given) => run(operations, given, async () => {}),
    runUnchecked: (call) => {
      const { operations, parameters: given, writeAudit } = call;
      const entry = { ...actedNow(audit, call), ...concernOf(parameters, call, about)(null) };
      return recordedFirst(entry, writeAudit, async (record) => {
        personIn(call);
        return run(operations, checked(parameters, given), record);
      });
    },
  };
}

/** Defines a command that changes only the database: its audit entry is in the same transaction. */
function stored<Schema extends z.ZodType, Answer>(
  parameters: Schema,
  audit: AuditAction,
  run: (
    operations: StoredOperations,
    parameters: z.output<Schema>,
    by: string | null,
  ) => Promise<Answer>,
  about: About<Schema, Answer>,
): Command<Schema, Answer> {
  return {
    parameters,
    run,
    runUnchecked: (call) => {
      const work = async (on: StoredOperations) =>
        run(on, checked(parameters, call.parameters), personIn(call));
      const concern = concernOf(parameters, call, about);
      return audited(audit, { ...call, concern }, work, call.operations.together);
    },
  };
}

/** Parameters that are not valid concern nothing: they may hold anything. */
function concernOf<Schema extends z.ZodType, Answer>(
  schema: Schema,
  { parameters }: Pick<Call, 'parameters'>,
  about: About<Schema, Answer>,
): (answer: Answer | null) => Concern {
  const { data, success } = schema.safeParse(parameters);
  return (answer) => (success ? about(data, answer) : {});
}

function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
  const place = path.length > 0 ? `${path.join('.')}: ` : '';
  throw new SonogateError('invalid_input', `${place}${message}`);
}

/** The person who acts: an operating system account, or a name that was given. */
const personSchema = z.string().trim().min(1).max(100);

/**
 * Returns who runs a command; null if the caller does not say.
 * @throws SonogateError `invalid_input`
 */
function personIn({ person }: Pick<Call, 'person'>): string | null {
  return checked(z.object({ person: personSchema.nullable().default(null) }), { person }).person;
}

/** @throws SonogateError `invalid_input` if a command needs a person and the caller names none. */
function named(by: string | null): string {
  if (by !== null) return by;
  throw new SonogateError('invalid_input', 'person: Required');
}

/** Form of ids in commands, such as those of studies and held reports, and of destination names. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Returns the names in the parameters of a command as the detail of its audit entry. A text of any
 * other form is left out: it may have been typed by mistake, and could be the name of a patient.
 */
function namesIn(names: Readonly<Record<string, string | null>>): AuditEntry['detail'] {
  const stated = Object.entries(names).filter(([, name]) => name !== null && NAME.test(name));
  return stated.length > 0 ? Object.fromEntries(stated) : null;
}

const idOf = ({ id }: { id: string }): Concern => ({ detail: namesIn({ id }) });
const destinationOf = ({ destination }: { destination: string }): Concern => ({
  detail: namesIn({ destination }),
});
const studyOf = ({ study }: { study: string }, answer: ChangedStudy | null): Concern => ({
  studyId: answer?.studyId ?? null,
  detail: namesIn({ id: study }),
});
const deliveryOf = ({ id }: { id: string }, answer: DeliveryRow | null): Concern => ({
  requestId: answer?.request_id ?? null,
  studyId: answer?.study ?? null,
  detail: namesIn({ id }),
});
const holdOf = ({ id }: { id: string }, answer: HeldReport | null): Concern => ({
  requestId: answer?.request_id ?? null,
  detail: namesIn({ id }),
});

const none = z.strictObject({});
const byId = z.strictObject({ id: z.string() });
const byStudy = z.strictObject({ study: z.string() });
const byObject = z.strictObject({ id: z.uuid() });
const byDestination = z.strictObject({ destination: z.string() });
const reference = (type: string) =>
  z.string().regex(new RegExp(`^${type}/[A-Za-z0-9.-]{1,64}$`), `${type}/<id>`);
/** A UID (PS3.5 9.1). It is checked because it becomes part of queries and paths. */
const uid = z.string().regex(/^[0-9.]{1,64}$/, 'a UID');

const COMMANDS = {
  'keys.create': stored(
    z.strictObject({
      name: z.string().min(1).max(100),
      test: z.boolean().default(false),
      scopes: z.array(z.enum(SCOPES)).min(1).optional(),
      consoleRole: z.enum(CONSOLE_ROLES).optional(),
      expiresAt: z.iso
        .datetime({ offset: true })
        .transform((text) => new Date(text))
        .optional(),
    }),
    'key.create',
    ({ keys }, { scopes, consoleRole, ...key }) =>
      keys.create({ ...key, ...(scopes && { scopes }), ...(consoleRole && { consoleRole }) }),
    (_, answer) => ({ detail: keyChange(null, answer?.record.id) }),
  ),
  'keys.list': command(none, null, ({ keys }) => keys.list()),
  'keys.rotate': stored(
    byId.extend({
      overlapHours: z.number().min(0).max(OVERLAP_HOURS.longest).default(OVERLAP_HOURS.usual),
    }),
    'key.rotate',
    ({ keys }, { id, overlapHours }) => keys.rotate(id, overlapHours),
    ({ id }, answer) => ({ detail: keyChange(id, answer?.record.id) }),
  ),
  'keys.revoke': stored(
    byId,
    'key.revoke',
    ({ keys }, { id }) => keys.revoke(id),
    ({ id }) => ({ detail: keyChange(id, null) }),
  ),

  'studies.list': command(
    z.strictObject({
      state: z.enum(STUDY_STATE).nullable().default(null),
      limit: z.number().int().positive().max(10_000).default(100),
    }),
    null,
    ({ studies }, filter) => studies.list(filter),
  ),
  'studies.explain': command(byStudy, null, async ({ studies }, { study }) => {
    const explanation = await studies.explain(study);
    if (!explanation) throw new SonogateError('not_found', `There is no study ${study}.`);
    return explanation;
  }),
  'studies.complete': stored(
    byStudy,
    'study.complete',
    ({ studies }, { study }) => studies.complete(study),
    studyOf,
  ),
  'studies.release': stored(
    byStudy.extend({
      rule: z.string().nullable().default(null),
      under: z.enum(MERGE_DECISIONS).nullable().default(null),
    }),
    'study.release',
    ({ studies }, { study, ...how }) => studies.release(study, how),
    ({ study, under }, answer) => ({
      studyId: answer?.studyId ?? null,
      detail: namesIn({ id: study, under }),
    }),
  ),
  'studies.rerun': stored(
    byStudy,
    'study.rerun',
    ({ studies }, { study }) => studies.rerun(study),
    studyOf,
  ),
  'studies.remove': onFiles(
    byStudy,
    'study.purge',
    ({ retention }, { study }, record) =>
      retention.remove(study, (studyId, tx) => record({ studyId }, tx)),
    studyOf,
  ),
  'rules.test': command(
    z.strictObject({
      /** Rules to test, in configuration file format; null for the current rules. */
      routing: routingSchema.nullable().default(null),
      last: z.number().int().positive().max(10_000).default(100),
    }),
    null,
    async ({ rules }, { routing, last }) => {
      if (routing !== null) rules.check(routing);
      return rules.dryRun(routing, last);
    },
  ),

  'deliveries.list': command(
    z.strictObject({
      requestId: z.string().optional(),
      destination: z.string().optional(),
      state: z.enum(DELIVERY_STATES).optional(),
      code: z.string().optional(),
      limit: z.number().int().positive().max(10_000).default(100),
    }),
    null,
    ({ deliveries }, filter) => deliveries.list(filter),
  ),
  'deliveries.breakers': command(none, null, ({ deliveries }) => deliveries.breakers()),
  'deliveries.replay': stored(
    byId,
    'delivery.replay',
    ({ deliveries }, { id }) => deliveries.replay(id),
    deliveryOf,
  ),
  'deliveries.replay-all': stored(
    byDestination,
    'delivery.replay',
    ({ deliveries }, { destination }) => deliveries.replayAll(destination),
    destinationOf,
  ),
  'deliveries.divert': stored(
    byId.extend({ destination: z.string().nullable().default(null) }),
    'delivery.divert',
    ({ deliveries }, { id, destination }) => deliveries.divert(id, destination),
    ({ id, destination }, answer) => ({
      ...deliveryOf({ id }, answer),
      detail: namesIn({ id, destination }),
    }),
  ),
  'deliveries.divert-all': stored(
    byDestination,
    'delivery.divert',
    ({ deliveries }, { destination }) => deliveries.divertAll(destination),
    destinationOf,
  ),

  'holds.list': command(none, null, ({ holds }) => holds.list()),
  'holds.show': stored(
    byId,
    'hold.show',
    ({ holds }, call, by) => holds.show({ ...call, person: named(by) }),
    holdOf,
  ),
  'holds.release': stored(
    byId
      .extend({
        patient: reference('Patient').optional(),
        order: reference('ServiceRequest').optional(),
        withoutOrder: z.boolean().default(false),
      })
      .refine(({ order, withoutOrder }) => !(order && withoutOrder), 'an order, or none'),
    'hold.release',
    ({ holds }, call, by) => holds.release({ ...call, person: named(by) }),
    holdOf,
  ),
  'holds.reject': stored(
    byId.extend({ reason: z.string().trim().min(1).max(500) }),
    'hold.reject',
    ({ holds }, call, by) => holds.reject({ ...call, person: named(by) }),
    holdOf,
  ),

  'patients.merges': command(none, null, ({ patients }) => patients.merges()),
  'patients.separate': stored(
    byObject,
    'patient.separate',
    ({ patients }, { id }) => patients.separate(id),
    idOf,
  ),

  'quarantine.list': command(none, null, ({ quarantine }) => quarantine.list()),
  'quarantine.register': onFiles(
    byObject,
    'quarantine.register',
    ({ quarantine }, { id }, record) => quarantine.register(id, record),
    idOf,
  ),
  'quarantine.remove': onFiles(
    byObject,
    'quarantine.remove',
    ({ quarantine }, { id }, record) => quarantine.remove(id, record),
    idOf,
  ),

  'alerts.acknowledge': stored(
    z.strictObject({ request: z.string() }),
    'triage.acknowledge',
    ({ alerts }, call, by) => alerts.acknowledge({ ...call, person: named(by) }),
    ({ request }) => ({ requestId: request, detail: namesIn({ id: request }) }),
  ),

  'results.withdraw': stored(
    z.strictObject({
      request: z.string(),
      reason: z.enum(WITHDRAWAL_REASON_CODES),
      text: z.string().trim().min(1).max(500).nullable().default(null),
    }),
    'result.withdraw',
    ({ results }, call, by) => results.withdraw({ ...call, person: named(by) }),
    ({ request, reason }, answer) => ({
      requestId: answer && request,
      detail: namesIn({ id: request, reason }),
    }),
  ),

  'archives.find': command(
    z.strictObject({
      from: z.string(),
      keys: z.strictObject({
        patientId: z.string().optional(),
        studyInstanceUid: z.string().optional(),
        accessionNumber: z.string().optional(),
        studyDate: z.string().optional(),
        modality: z.string().optional(),
      }),
      limit: z.int().min(1),
      objects: z.boolean(),
    }),
    // No audit action, because the query writes its own entry, which includes the result.
    null,
    ({ archives }, query, by) => archives.find({ ...query, person: by ?? undefined }),
  ),
  'archives.fetch': command(
    z.strictObject({ study: uid, from: z.string() }),
    'study.fetch',
    ({ archives }, { study, from }) => archives.fetch(study, from),
    ({ study }) => ({ detail: namesIn({ id: study }) }),
  ),
  'archives.retrieval': command(z.strictObject({ id: z.uuid() }), null, ({ archives }, { id }) =>
    archives.retrieval(id),
  ),

  'retention.clean': command(
    z.strictObject({ dryRun: z.boolean() }),
    // No audit action, because the removal writes its own entries.
    null,
    ({ retention }, { dryRun }) => retention.clean(dryRun),
  ),
  'audit.verify': command(
    z.strictObject({
      publicKeys: z.array(z.string()).default([]),
    }),
    'audit.verify',
    ({ audit }, { publicKeys }) => audit.verify(publicKeys),
  ),
  'audit.export': command(
    z.strictObject({
      format: z.string(),
      /** Only rows after the one with this id are exported. */
      after: z.coerce.bigint().default(0n),
    }),
    'audit.export',
    ({ audit }, { format, after }) => audit.export(format, after),
  ),
} as const;

type CommandName = keyof typeof COMMANDS;
/** The parameters of a command, and the person who runs it, whom the audit names. */
export type CommandParameters<Name extends CommandName> = z.input<
  (typeof COMMANDS)[Name]['parameters']
> & { person?: string };
export type CommandAnswer<Name extends CommandName> = AsJson<
  Awaited<ReturnType<(typeof COMMANDS)[Name]['run']>>
>;

/** Type of a value after a round trip through JSON: dates are strings, and undefined is null. */
type AsJson<Value> = Value extends Date
  ? string
  : Value extends undefined
    ? null
    : Value extends readonly (infer Item)[]
      ? AsJson<Item>[]
      : Value extends object
        ? { [Key in keyof Value]: AsJson<Value[Key]> }
        : Value;

/**
 * Runs a command by its name, with unvalidated parameters.
 * @returns the answer as JSON text.
 */
export type RunByName = (name: string, parameters: unknown) => Promise<string>;

export type RunCommand = <Name extends CommandName>(
  name: Name,
  parameters: CommandParameters<Name>,
) => Promise<CommandAnswer<Name>>;

/** Adds types to `run`, which may run the commands in this process or in another one. */
export const typedCommands =
  (run: RunByName): RunCommand =>
  async (name, parameters) =>
    JSON.parse(await run(name, parameters));

const BY_NAME: ReadonlyMap<string, Pick<Command<z.ZodType, unknown>, 'runUnchecked'>> = new Map(
  Object.entries(COMMANDS),
);

/** Runs commands on `operations`, and audits those that change something or show a patient. */
export function commandsOn(operations: Operations, writeAudit: WriteAudit): RunByName {
  return async (name, given) => {
    const command = BY_NAME.get(name);
    if (!command) throw new SonogateError('not_found', `The gateway has no command "${name}".`);
    const { person, ...parameters } = membersOf(given);
    const answer = await command.runUnchecked({ operations, parameters, person, writeAudit });
    return JSON.stringify(answer ?? null);
  };
}

/**
 * Carries out a command and audits it.
 * @param together carries out the command and writes the entry, in one transaction if possible.
 */
async function audited<On, Answer>(
  action: AuditAction,
  call: Pick<Call, 'person' | 'writeAudit'> & { concern: (answer: Answer | null) => Concern },
  work: (operations: On) => Promise<Answer>,
  together: (both: (operations: On, writeAudit: WriteAudit) => Promise<Answer>) => Promise<Answer>,
): Promise<Answer> {
  const { concern, writeAudit } = call;
  const entry = actedNow(action, call);
  let isRefused = false;
  try {
    return await together(async (operations, write) => {
      const answer = await work(operations).catch((error: unknown) => {
        isRefused = true;
        throw error;
      });
      const { requestId = null, studyId = null, detail = null } = concern(answer);
      await write({ ...entry, requestId, studyId, outcome: 'success', detail });
      return answer;
    });
  } catch (error) {
    const { detail = null } = concern(null);
    if (isRefused) await writeAudit({ ...entry, outcome: 'refused', detail });
    throw error;
  }
}

/** Returns the part of a command's audit entry that does not depend on its outcome. */
function actedNow(action: AuditAction, { person }: Pick<Call, 'person'>) {
  const { data: name } = personSchema.safeParse(person);
  const actor = name === undefined ? 'command-line' : `person:${name}`;
  return { at: new Date(), action, actor };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
