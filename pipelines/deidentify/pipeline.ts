import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { deidentificationSchema } from '../../config/peers.ts';
import type { Pipeline } from '../contract/job.ts';
import { deidentifyObject } from './object.ts';

/** `job.json` in a work folder: how to de-identify the object in `files/`. */
const deidentifyJobSchema = z.strictObject({
  settings: deidentificationSchema,
  /** The installation's secret, in base64, from which pseudonyms are derived. */
  secret: z.string(),
  /** Identifies the patient of the study (`patientKey`). */
  patient: z.string(),
});
export type DeidentifyJob = z.infer<typeof deidentifyJobSchema>;

/** `result.json`: why the object must be held; null if the copy was written. */
export const deidentifyResultSchema = z.strictObject({ held: z.string().nullable() });

export const RECEIVED = join('files', 'object.dcm');
export const COPY = join('artifacts', 'object.dcm');

/**
 * De-identifies one received object. It runs in a process that has no network and cannot read other
 * studies, because the decoders of compressed frames process data from unknown senders.
 */
export const pipeline: Pipeline = async (folder, _report, signal) => {
  const job = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  const { settings, secret, patient } = deidentifyJobSchema.parse(job);
  const held = await deidentifyObject({
    source: join(folder, RECEIVED),
    target: join(folder, COPY),
    settings,
    secret: Buffer.from(secret, 'base64'),
    patient,
    signal,
  });
  await writeFile(join(folder, 'result.json'), JSON.stringify({ held }));
  return { type: 'done' };
};
