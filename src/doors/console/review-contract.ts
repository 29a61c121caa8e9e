import type { DrawnMeasurement } from '../../../pipelines/artifacts/display/overlay-contract.ts';
import type { Change } from '../../../pipelines/contract/review.ts';
import type { ResultView } from './result-contract.ts';

/** The review of a result, as the console shows it; see contract.ts. Types only. */

export type { Change } from '../../../pipelines/contract/review.ts';

export type ReviewState = 'draft' | 'in-review' | 'signed' | 'amended';

/** The state of a result as shown: that of its review, unless it was withdrawn. */
export type ShownReview = ReviewState | 'withdrawn';

/** `GET /requests/{id}/review`, and the response to every change and signature. */
export interface ReviewView {
  state: ReviewState;
  revision: number;
  /**
   * ETag of the review. The next change sends it as `If-Match`, so that no other reader's change is
   * overwritten.
   */
  etag: string;
  /** The result with all changes applied. */
  result: ResultView;
  /** The measurements with their current calipers, by the file on which they were drawn. */
  drawn: Record<string, DrawnMeasurement[]>;
  /** The values that a reader steps through, in the order of the report. */
  steps: ReviewStep[];
  changes: ReviewChange[];
  signatures: { observer: string; organization: string; at: string; statement: string | null }[];
  signaturesNeeded: number;
  /** Everybody who has the review open now, including this reader. */
  readers: string[];
  may: { edit: boolean; sign: boolean };
  /** The names that a reader may give to images: cardiac views or planes. */
  names: {
    kind: 'name-view' | 'name-plane';
    options: { value: string; text: string }[];
    /**
     * The images that a person has named. The frame is null if the name applies to a whole clip.
     */
    given: { file: string; frame: number | null; value: string }[];
  };
}

export interface ReviewStep {
  id: string;
  label: string;
  section: string;
  /** The value as displayed, in `unit`; typing starts from it. */
  value: number;
  text: string;
  unitText: string;
  /** Unit of a typed value, in UCUM. An age is typed in days. */
  unit: string;
  quality: 'accepted' | 'review' | 'low' | 'inadequate';
  /** A person's decision; null if nobody has decided. */
  decision: 'accepted' | 'edited' | 'entered' | 'rejected' | null;
  /** The AI's value if it differs from the present one; otherwise null. */
  original: string | null;
  /**
   * File in which the value or one of its inputs was measured; null for a value that belongs to no
   * single frame.
   */
  file: string | null;
  frame: number | null;
  /** The shape that a person can drag on the image; null unless there is exactly one. */
  draggable: 'calipers' | 'outline' | null;
  /** Further values of the same quantity, one of which may be chosen or corrected instead. */
  others: { id: string; text: string; file: string | null; frame: number | null }[];
}

export interface ReviewChange {
  id: number;
  at: string;
  author: string;
  /** The change in words, with the old and the new value. */
  text: string;
  undone: boolean;
  isUndo: boolean;
}

export interface ChangeReview {
  changes: Change[];
  /** Must be true to change a signed result. */
  amend?: boolean;
}

export interface SignReview {
  statement?: string;
}

/**
 * `GET /requests/{id}/review/events`: one `event: review` at once, and one after each change of the
 * review or of its readers.
 */
export interface ReviewNews {
  revision: number;
  state: ReviewState;
  etag: string;
  /** Who made the last change; null if nobody has. */
  author: string | null;
  readers: string[];
}
