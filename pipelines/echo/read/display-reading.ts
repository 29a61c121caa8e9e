import type { SweepKind } from '../../contract/study.ts';
import type { DrawnTrace } from '../../measure/drawn-trace.ts';
import type { ConceptKey } from '../../result/concepts.ts';
import type { Caliper } from '../../result/envelope.ts';
import type { Flow } from '../flows.ts';
import type { MModeStructure } from '../m-mode-structures.ts';

/** One quantity of a display: its beats, and the mean of those that are alike. */
export interface TracedQuantity {
  key: ConceptKey;
  value: number;
  /** Of every beat that was measured, in order; the mean is of those marked in `used`. */
  beats: readonly number[];
  used: readonly number[];
  calipers: readonly Caliper[];
  note: string | null;
  /** Why it cannot be relied on; null where it can. */
  doubt: string | null;
}

/** One spectral or M-mode display, of whatever it shows. */
export interface DisplayReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  kind: SweepKind;
  /** What it shows; null where neither the header nor its form says. */
  flow: Flow | MModeStructure | 'annulus' | null;
  /** Who says so, and how sure: the header is. */
  namedBy: 'header' | 'form' | null;
  nameConfidence: number;
  /** Why the form says so, or why nothing does. */
  because: string | null;
  /** cm/s, mean of the beats that are alike; null where the display was not traced. */
  peak: number | null;
  side: 'above' | 'below' | null;
  beats: number;
  /** Beats of even length; null where fewer than three were seen. */
  regular: boolean | null;
  /** Of the trace. */
  confidence: number;
  refusal: string | null;
  /** The velocity curve on its frame; null where none was traced. */
  trace: DrawnTrace | null;
  quantities: readonly TracedQuantity[];
}
