import type { CheckFormula } from '../../contract/vector-inputs.ts';
import { velocityOfShift } from '../../input/dicom-sweeps.ts';
import { imageTypeFlags } from '../../input/image-type-flags.ts';
import { distance } from '../../measure/distance.ts';
import { valueAt } from '../../measure/sweep-axis.ts';
import { hasValidCheckDigit } from '../../result/loinc.ts';
import { frameAt } from '../formulas/cycle.ts';

/** What the header says of scales, modes and times (reference 2). */
export const DICOM_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'dicom.usDistance2D': (i) =>
    distance(
      { x: 0, y: 0 },
      { x: i.number('dxPixels'), y: i.number('dyPixels') },
      { x: i.number('deltaXCm'), y: i.number('deltaYCm') },
    ),
  'dicom.usVelocity': (i) =>
    valueAt(
      {
        unit: 'cm/s',
        zeroRow: i.number('regionMinY0') + i.number('referencePixelY0'),
        valuePerPixel: Math.abs(i.number('physicalDeltaYCmS')),
      },
      i.number('row'),
    ),
  'dicom.dopplerShiftToVelocity': (i) => {
    const perHertz = velocityOfShift(i.number('transducerKHz'), i.number('angleDeg'));
    return perHertz === null ? null : perHertz * i.number('shiftHz');
  },
  'dicom.imageTypeFlags': (i) => imageTypeFlags(i.text('value4')),
  'dicom.frameForTime': (i) =>
    i.numbers('rWaveMs').map((time) => frameAt(time, i.number('frameTimeMs'))),
  'loinc.checkDigit': (i) => hasValidCheckDigit(i.text('code')),
};
