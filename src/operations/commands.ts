import { z } from 'zod';
import { routingSchema } from '../../config/routing.ts';
import {
  LONGEST_WITHDRAWAL_TEXT,
  WITHDRAWAL_REASON_CODES,
} from '../../pipelines/contract/withdrawal.ts';
import { OVERLAP_HOURS, SCOPES } from '../core/accounts/keys.ts';
import { CONSOLE_ROLES } from '../core/accounts/roles.ts';
import { type AuditEntry, keyChange, type WriteAudit } from '../core/audit/audit.ts';
import type { DeliveryRow } from '../core/outbox/deliveries.ts';
import { DELIVERY_STATES } from '../core/outbox/delivery.ts';
import { MERGE_DECISIONS } from '../core/patients/merges.ts';
import type { ChangedStudy } from '../core/studies/commands.ts';
import { STUDY_STATE } from '../core/studies/study-store.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import { type Command, type Concern, command, onFiles, stored } from './command.ts';
import { LONGEST_CLOSING_REASON } from './deliveries.ts';
import type { HeldReport, Operations } from './operations.ts';

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
  'deliveries.close': stored(
    byId.extend({ reason: z.string().trim().min(1).max(LONGEST_CLOSING_REASON) }),
    'delivery.close',
    ({ deliveries }, call, by) => deliveries.close({ ...call, person: named(by) }),
    ({ id, reason }, answer) => ({
      ...deliveryOf({ id }, answer),
      // A reason that was refused may name a patient.
      detail: answer ? { id, reason } : namesIn({ id }),
    }),
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
      text: z.string().trim().min(1).max(LONGEST_WITHDRAWAL_TEXT).nullable().default(null),
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

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
