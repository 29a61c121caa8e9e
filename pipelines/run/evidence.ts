import * as devalue from 'devalue';
import type { Frame } from '../contract/study.ts';
import { UnreadableInput } from '../contract/study.ts';

/**
 * The evidence of a study as a file: everything that the readers found, without pixels. From it and
 * the changes of a review, the same sections make the result again without models or images. It is
 * internal: it stays with the request and is no artifact of the result.
 */
export const EVIDENCE_FILE = 'evidence.json';

const isFrame = (value: unknown): value is Frame =>
  typeof value === 'object' && value !== null && 'gray' in value && 'rgb' in value;

const noPixels = async (): Promise<never> => {
  throw new UnreadableInput('The evidence of a study holds no pixels.');
};

/** The evidence as text. Objects that are referred to several times stay one object. */
export function evidenceText(evidence: unknown): string {
  return devalue.stringify(evidence, {
    Frame: (value: unknown) => isFrame(value) && { index: value.index, time: value.time },
  });
}

/** The evidence from its text; its frames can be counted, but not decoded. */
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
