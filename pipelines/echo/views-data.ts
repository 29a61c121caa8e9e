import { z } from 'zod';
import { VIEW_FAMILIES } from './view-names.ts';

/** The view of one clip. */
const clipViewSchema = z.object({
  file: z.string(),
  mode: z.string(),
  /** Null: none that can be relied on. */
  view: z.enum(VIEW_FAMILIES).nullable(),
  /** The same with its level (`PSAX-PM`), where that is known. */
  level: z.string().nullable(),
  source: z.enum(['header', 'model']).nullable(),
  /** Of the model; null where the header names the view, or no model looked. */
  confidence: z.number().nullable(),
  /** The view that the model would have named without its gate. */
  below_gate: z.string().nullable(),
  /** Whether its chambers were outlined. */
  measured: z.boolean(),
  frames: z.number().int(),
  calibrated: z.boolean(),
  /** Beats per minute, of the header. */
  heart_rate: z.number().nullable(),
});

/** `data` of the section `views`. */
export const viewsDataSchema = z.looseObject({
  clips: z.array(clipViewSchema),
  /** Doppler and M-mode displays. */
  spectra: z.array(
    z.looseObject({ file: z.string(), mode: z.string(), shows: z.string().nullable() }),
  ),
});
export type ViewsData = z.infer<typeof viewsDataSchema>;
