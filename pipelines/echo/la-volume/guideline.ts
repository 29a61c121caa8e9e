import type { GradedQuantity } from '../shared/grading.ts';

const volumeIndex = { normal: [16, 34], mild: 41, moderate: 48 } as const;

/** Ranges and grades of the left atrium (echo 6). */
export const LEFT_ATRIUM = {
  /**
   * LA volume index, ml/m2. The limits are the same for both sexes and for both methods (discs and
   * area-length).
   */
  volumeIndex: {
    male: volumeIndex,
    female: volumeIndex,
    decimals: 0,
    source: 'ase-2015-chambers',
    evidence: 'A',
  },
  /**
   * LA diameter, cm. The 2005 table prints 5.2 for men both as moderate and as severe; here it is
   * severe (echo 6).
   */
  diameter: {
    male: { normal: [3, 4], mild: 4.6, moderate: 5.1 },
    female: { normal: [2.7, 3.8], mild: 4.2, moderate: 4.6 },
    decimals: 1,
    source: 'ase-2005-chambers',
    evidence: 'B',
  },
} as const satisfies Record<string, GradedQuantity>;
