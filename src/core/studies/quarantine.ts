import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ERRORS, type ErrorCode, SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import type { RecordAction } from '../audit/audit.ts';
import { newPlace, OBJECT_SUFFIX } from './intake-folder.ts';

/**
 * The quarantine is a folder in this host's data folder: `quarantine/<id>.dcm` is a received object
 * that cannot be recorded, and `quarantine/<id>.json` contains its source and the reason. A person
 * examines it and either registers it again once the cause is corrected or removes it.
 */
const QUARANTINE = 'quarantine';
const NOTE_SUFFIX = '.json';

const noteSchema = z.object({
  at: z.coerce.date(),
  source: z.string(),
  callingAeTitle: z.string().nullable(),
  code: z.custom<ErrorCode>((code) => typeof code === 'string' && code in ERRORS),
  detail: z.string(),
});

/**
 * The source of a quarantined object, and why it was quarantined. Does not identify the patient.
 */
type Note = z.infer<typeof noteSchema>;

/**
 * A quarantined object. Values from its note are missing if it was quarantined by an earlier
 * version, which wrote no notes.
 */
export interface QuarantinedObject {
  id: string;
  at: Date;
  bytes: number;
  source: string | null;
  callingAeTitle: string | null;
  code: ErrorCode | null;
  detail: string | null;
}

const placeOf = (id: string) => join(QUARANTINE, id + OBJECT_SUFFIX);
const noteOf = (dataDir: string, id: string) => join(dataDir, QUARANTINE, id + NOTE_SUFFIX);

/**
 * Quarantines an object that cannot be used.
 * @param path relative to the data folder, like the returned path.
 */
export async function quarantine(dataDir: string, path: string, note: Note): Promise<string> {
  const id = randomUUID();
  await mkdir(join(dataDir, QUARANTINE), { recursive: true });
  await writeFile(noteOf(dataDir, id), JSON.stringify(note));
  await rename(join(dataDir, path), join(dataDir, placeOf(id)));
  return placeOf(id);
}

/** Lists the quarantined objects of this host, newest first. */
export async function quarantinedObjects(dataDir: string): Promise<QuarantinedObject[]> {
  const names = await ifMissing(readdir(join(dataDir, QUARANTINE)), []);
  const ids = names.filter((name) => name.endsWith(OBJECT_SUFFIX));
  const found = await Promise.all(
    ids.map((name) => ifMissing(read(dataDir, name.slice(0, -OBJECT_SUFFIX.length)), null)),
  );
  return found
    .filter((object) => object !== null)
    .sort((one, other) => other.at.getTime() - one.at.getTime());
}

async function read(dataDir: string, id: string): Promise<QuarantinedObject> {
  const { size, mtime } = await stat(join(dataDir, placeOf(id)));
  const note = noteSchema.safeParse(await readNote(dataDir, id)).data;
  return {
    id,
    at: note?.at ?? mtime,
    bytes: size,
    source: note?.source ?? null,
    callingAeTitle: note?.callingAeTitle ?? null,
    code: note?.code ?? null,
    detail: note?.detail ?? null,
  };
}

/** Reads a note. A note left incomplete by a power failure is treated as missing. */
async function readNote(dataDir: string, id: string): Promise<unknown> {
  const text = await ifMissing(readFile(noteOf(dataDir, id), 'utf8'), '');
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Moves an object back to the intake folder, as if it had just arrived.
 * @param record records this in the audit trail. It is called before the object is moved.
 * @returns its path and source.
 * @throws SonogateError `not_found`, also if its source is unknown.
 */
export async function leaveQuarantine(
  dataDir: string,
  id: string,
  now: Date,
  record: RecordAction = async () => {},
): Promise<{ path: string; source: string }> {
  const { source } = await requireObject(dataDir, id);
  if (source === null) {
    throw new SonogateError('not_found', `The source of ${id} is unknown; send the object again.`);
  }
  await record();
  const { complete } = newPlace(source, now);
  await mkdir(dirname(join(dataDir, complete)), { recursive: true });
  await rename(join(dataDir, placeOf(id)), join(dataDir, complete));
  await rm(noteOf(dataDir, id), { force: true });
  return { path: complete, source };
}

/**
 * Deletes an object permanently.
 * @param record records the deletion in the audit trail. It is called before the deletion:
 * otherwise a crash between the two would leave a deletion without an entry.
 * @throws SonogateError `not_found`
 */
export async function removeQuarantinedObject(
  dataDir: string,
  id: string,
  record: RecordAction = async () => {},
): Promise<void> {
  await requireObject(dataDir, id);
  await record();
  await remove(dataDir, id);
}

async function remove(dataDir: string, id: string): Promise<void> {
  await rm(join(dataDir, placeOf(id)), { force: true });
  await rm(noteOf(dataDir, id), { force: true });
}

async function requireObject(dataDir: string, id: string): Promise<QuarantinedObject> {
  const object = z.uuid().safeParse(id).success ? await ifMissing(read(dataDir, id), null) : null;
  if (!object) throw new SonogateError('not_found', `No object ${id} is in quarantine.`);
  return object;
}

/**
 * Deletes the objects quarantined before `cutoff`, or only counts them.
 * @param recorded records the deletion of an object in the audit trail, before it is deleted.
 */
export async function removeQuarantined(
  dataDir: string,
  cutoff: Date,
  dryRun: boolean,
  recorded: (id: string) => Promise<void> = async () => {},
): Promise<number> {
  const old = (await quarantinedObjects(dataDir)).filter(({ at }) => at < cutoff);
  for (const { id } of dryRun ? [] : old) {
    await recorded(id);
    await remove(dataDir, id);
  }
  return old.length;
}
