import * as devalue from 'devalue';
import type { Frame } from '../contract/study.ts';
import { UnreadableInput } from '../contract/study.ts';

/**
 * File with the evidence of a study: what all readers found, without pixels. From this file and the
 * changes of a review, the same sections can rebuild the result without models or images. The file
 * is internal: it is stored with the request and is not an artifact of the result.
 */
export const EVIDENCE_FILE = 'evidence.json';

const isFrame = (value: unknown): value is Frame =>
  typeof value === 'object' && value !== null && 'gray' in value && 'rgb' in value;

const noPixels = async (): Promise<never> => {
  throw new UnreadableInput('The evidence of a study holds no pixels.');
};

/**
 * Returns the evidence as text. An object that is referenced several times is written only once.
 */
export function evidenceText(evidence: unknown): string {
  return devalue.stringify(evidence, {
    Frame: (value: unknown) => isFrame(value) && { index: value.index, time: value.time },
  });
}

/**
 * Parses the evidence. Its frames can be counted but not decoded, because they contain no pixels.
 */
export function parseEvidence<Evidence>(text: string): Evidence {
  return devalue.parse(text, {
    Frame: ({ index, time }: Pick<Frame, 'index' | 'time'>): Frame => ({
      index,
      time,
      gray: noPixels,
      rgb: noPixels,
    }),
  });
}
