import { z } from 'zod';
import {
  type AuditAction,
  type AuditEntry,
  type RecordAction,
  recordedFirst,
  type WriteAudit,
} from '../core/audit/audit.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import type { Operations, StoredOperations } from './operations.ts';

/** A command: how its parameters are validated, what it does, and how it is audited. */
export interface Command<Schema extends z.ZodType, Answer> {
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
export type Concern = Pick<AuditEntry, 'requestId' | 'studyId' | 'detail'>;

/**
 * Returns what a command concerns.
 * @param answer null if the command was refused. Then only the detail is recorded, because the
 * request or study might not exist.
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
export function command<Schema extends z.ZodType, Answer>(
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
export function onFiles<Schema extends z.ZodType, Answer>(
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
      const entry = { ...auditBase(audit, call), ...concernOf(parameters, call, about)(null) };
      return recordedFirst(entry, writeAudit, async (record) => {
        personIn(call);
        return run(operations, checked(parameters, given), record);
      });
    },
  };
}

/** Defines a command that changes only the database: its audit entry is in the same transaction. */
export function stored<Schema extends z.ZodType, Answer>(
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

/**
 * If the parameters are invalid, the audit entry contains none of them, because they may contain
 * anything.
 */
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
  const entry = auditBase(action, call);
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
function auditBase(action: AuditAction, { person }: Pick<Call, 'person'>) {
  const { data: name } = personSchema.safeParse(person);
  const actor = name === undefined ? 'command-line' : `person:${name}`;
  return { at: new Date(), action, actor };
}
