import type { Measurement } from '../result/envelope.ts';
import { DATING_CRL } from './charts/crl-dating.ts';
import { differences } from './early-findings.ts';
import { judgedValue, type MachineValues } from './early-machine.ts';
import type { EarlySight } from './early-viability.ts';
import { format } from './measurement.ts';
import type { EarlyClip } from './read/early-pregnancy.ts';

/** What of an early pregnancy stays open, why, and what would close it. */
export interface EarlyGap {
  code: string;
  detail: string;
  need: string;
}

interface Known {
  seen: EarlySight;
  measurements: readonly Measurement[];
  clips: readonly EarlyClip[];
  machine: MachineValues;
  /** The words for the views and the cine that the section needs. */
  view: string;
  cine: string;
}

function cardiacGap({ clips, cine }: Known): EarlyGap {
  const moving = clips.some(({ clip }) => clip.frames.length > 1);
  return {
    code: 'cine_missing',
    detail: moving
      ? 'Cardiac activity was not assessed: no clip of the embryo was long and quick enough.'
      : 'Cardiac activity was not assessed: a still image cannot show it.',
    need: cine,
  };
}

function sizeGaps({ measurements, machine, view }: Known): EarlyGap[] {
  const crl = judgedValue(measurements, 'crl');
  const undated = crl && (crl.value < DATING_CRL.from || crl.value > DATING_CRL.to);
  const { from, to } = DATING_CRL;
  return [
    ...(judgedValue(measurements, 'mean-sac-diameter')
      ? []
      : [
          {
            code: 'planes_missing',
            detail:
              'Mean sac diameter could not be computed; viability criteria based on MSD were not applied.',
            need: 'sagittal and transverse images of the sac, named by the cart',
          },
        ]),
    ...(undated
      ? [
          {
            code: 'outside_chart_range',
            detail: `CRL ${format('crl', crl.value)} is outside the ${from} to ${to} mm for which age by CRL holds: no age was given.`,
            need: view,
          },
        ]
      : []),
    ...differences(measurements).map((detail) => ({ code: 'values_differ', detail, need: view })),
    ...(machine.unused
      ? [
          {
            code: 'several_fetuses',
            detail: machine.unused,
            need: 'one report for each fetus',
          },
        ]
      : []),
  ];
}

function viabilityGaps(seen: EarlySight): EarlyGap[] {
  return [
    ...(seen.embryo === false
      ? [
          {
            code: 'two_planes_only',
            detail: 'An embryo beside the two planes of the sac would not be seen.',
            need: 'a sweep through the whole sac, looked at by the examiner',
          },
        ]
      : []),
    ...(seen.cardiacActivity === true
      ? []
      : [
          {
            code: 'history_not_applied',
            detail:
              'The criteria that rest on an earlier scan, and an empty amnion, were not looked at.',
            need: 'the findings of an earlier scan',
          },
        ]),
  ];
}

/** All gaps in the order in which they matter; the last, the location, is always among them. */
export function earlyGaps(known: Known): EarlyGap[] {
  const { seen, view } = known;
  return [
    ...(seen.sac
      ? []
      : [
          {
            code: 'view_missing',
            detail: 'No gestational sac was told on the images.',
            need: view,
          },
        ]),
    ...sizeGaps(known),
    ...(seen.cardiacActivity === null ? [cardiacGap(known)] : []),
    ...(seen.transvaginal
      ? []
      : [
          {
            code: 'route_unknown',
            detail:
              'The images are not known to be transvaginal, for which the criteria of loss hold.',
            need: 'the route of the examination in the view name',
          },
        ]),
    ...viabilityGaps(seen),
    {
      code: 'location_not_assessed',
      detail:
        'Whether the sac lies within the uterus was not assessed; the criteria hold for an intrauterine sac.',
      need: 'confirmation of the location by the examiner',
    },
  ];
}
