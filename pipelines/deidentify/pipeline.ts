import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { deidentificationSchema } from '../../config/peers.ts';
import type { Pipeline } from '../contract/job.ts';
import { deidentifyObject } from './object.ts';

/** `job.json` of a work folder: how the one object in `files/` is de-identified. */
export const deidentifyJobSchema = z.strictObject({
  settings: deidentificationSchema,
  /** The secret of the site, base64: pseudonyms are derived from it. */
  secret: z.string(),
});
export type DeidentifyJob = z.infer<typeof deidentifyJobSchema>;

/** `result.json`: the reason why the object has to be held; null when the copy was written. */
export const deidentifyResultSchema = z.strictObject({ held: z.string().nullable() });

/** Names in the work folder. */
export const RECEIVED = join('files', 'object.dcm');
export const COPY = join('artifacts', 'object.dcm');

/**
 * De-identifies one received object, in a process without network that can read no other study: the
 * decoders of compressed frames see what strangers sent.
 */
export const deidentifyPipeline: Pipeline = async (folder, _report, signal) => {
  const job = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  const { settings, secret } = deidentifyJobSchema.parse(job);
  const held = await deidentifyObject({
    source: join(folder, RECEIVED),
    target: join(folder, COPY),
    settings,
    secret: Buffer.from(secret, 'base64'),
    signal,
  });
  await writeFile(join(folder, 'result.json'), JSON.stringify({ held }));
  return { type: 'done' };
};
