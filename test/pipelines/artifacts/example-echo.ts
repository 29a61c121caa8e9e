import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { measurement } from './example-measurements.ts';
import { NOTHING_MEASURED } from './example-result.ts';

export const echoValue = (
  key: ConceptKey,
  number: number,
  over: Partial<Measurement> = {},
): Measurement =>
  measurement(`m-${key}-${number}`, key, number, {
    section: 'lv-size',
    unit: CONCEPTS[key].unit,
    ...over,
  });

const septum = echoValue('ivsd', 1.04, {
  source: {
    provenance: 'image-analysis',
    file: 'abdomen.dcm',
    sop_instance_uid: '2.25.2002',
    frame: 3,
    calipers: [
      {
        type: 'line',
        points: [
          [100, 50],
          [110, 80.5],
        ],
      },
    ],
  },
});

export const ECHO: Result = {
  ...NOTHING_MEASURED,
  endpoint: 'us/echo/interpret',
  measurements: [
    septum,
    echoValue('lvef-biplane', 57.3),
    echoValue('lvidd', 4.6),
    echoValue('tapse', 21),
    echoValue('mitral-e', 78.2),
    echoValue('mitral-e', 81.4),
    echoValue('body-surface-area', 1.83),
    echoValue('rvsp', 31),
    echoValue('lvids', 3.1, { quality: 'low' }),
  ],
};
