import { ln, type MeasurementConcept, own, sct } from '../coding.ts';
import { length, summary } from './quantity.ts';

const NECK = sct('45048000', 'Neck');

/** The gestational sac and the embryo, nuchal translucency (CID 12009, 12010). */
export const EARLY_PREGNANCY = {
  crl: {
    ...length('Crown-rump length', 'CRL', ln('11957-8', 'Crown Rump Length'), null),
    group: 'early-gestation',
  },
  'mean-sac-diameter': {
    ...length('Mean sac diameter', 'MSD', ln('11850-5', 'Gestational Sac Diameter'), null),
    group: 'early-gestation',
  },
  'sac-length': {
    ...length('Length of the gestational sac', 'sac length', own('sac-length'), null),
    group: 'early-gestation',
  },
  'sac-height': {
    ...length('Height of the gestational sac', 'sac height', own('sac-height'), null),
    group: 'early-gestation',
  },
  'sac-width': {
    ...length('Width of the gestational sac', 'sac width', own('sac-width'), null),
    group: 'early-gestation',
  },
  'yolk-sac': {
    ...length('Yolk sac diameter', 'YS', ln('11816-6', 'Yolk Sac Length'), null),
    group: 'early-gestation',
  },
  'ga-by-crl': summary('Gestational age by CRL', 'GA (CRL)', ln('18185-9', 'Gestational Age'), 'd'),
  'ga-by-sac': summary(
    'Gestational age by mean sac diameter',
    'GA (MSD)',
    ln('18185-9', 'Gestational Age'),
    'd',
  ),
  'fetal-heart-rate': summary(
    'Fetal heart rate',
    'FHR',
    ln('11948-7', 'Fetal Heart Rate'),
    '{H.B.}/min',
  ),
  'nuchal-translucency': {
    ...length('Nuchal translucency', 'NT', ln('33069-6', 'Nuchal Translucency'), NECK),
    group: 'early-gestation',
  },
} as const satisfies Record<string, MeasurementConcept>;
