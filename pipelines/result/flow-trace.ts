import { z } from 'zod';
import type { DrawnTrace } from '../measure/doppler/waveform.ts';

/** `trace` of a listed spectrum in the data of a section: the velocity curve that was measured. */
export const flowTraceSchema = z.object({
  /** 1-based. */
  frame: z.number().int().positive(),
  side: z.enum(['above', 'below']),
  baseline_row: z.number(),
  points: z.array(z.tuple([z.number(), z.number()])),
  beats: z.array(z.number()),
});
export type FlowTraceData = z.infer<typeof flowTraceSchema>;

/** A traced curve as a section lists it; `frame` is 0-based. */
export function flowTrace(frame: number, trace: DrawnTrace): FlowTraceData {
  return {
    frame: frame + 1,
    side: trace.side,
    baseline_row: trace.baselineRow,
    points: [...trace.points],
    beats: [...trace.beats],
  };
}
