import { conceptEntry } from '../../result/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { standingValues } from '../../result/standing-values.ts';
import { accepted } from '../statement.ts';
import type { Subject } from '../subject.ts';
import {
  type Code,
  type ContentItem,
  code,
  container,
  num,
  root,
  scoord,
  text,
} from './content-item.ts';
import { languageItem, observerItems } from './context.ts';
import { postCoordination } from './echo-post-coordination.ts';
import { encode } from './encode.ts';
import { type SrClass, srHeader } from './header.ts';
import { conceptOf, exchange, measuredOn } from './measured-value.ts';
import { SR } from './vocabulary.ts';

/** CID 12300 besides the LOINC codes from 79909-8 to 80091-2, which are all in it. */
const CORE_CODES = new Set([
  ...['18032-3', '18038-0', '18042-2', '18049-7', '18071-1', '18175-0', '29434-8', '29435-5'],
  ...['77891-0', '77903-3', '78184-9', '78191-4'],
]);

/** Whether a code is a Core Echo Measurement (PS3.16 CID 12300, with CID 12309). */
export function isCoreEchoCode({ scheme, code: value }: Code): boolean {
  const number = Number.parseInt(value, 10);
  if (scheme === 'DCM') return number >= 130_686 && number <= 130_698;
  return scheme === 'LN' && (CORE_CODES.has(value) || (number >= 79_909 && number <= 80_091));
}

/** Rows that every NUM of TID 5301 and 5302 may have: a label, the one to read, the caliper. */
function described(
  measurement: Measurement,
  chosen: boolean | null,
  subject: Subject,
): ContentItem[] {
  const on = measuredOn(measurement, subject);
  const label = conceptEntry(measurement.concept.key)?.abbreviation ?? measurement.label;
  const calipers = on
    ? on.graphics.map((graphic) =>
        scoord('INFERRED FROM', SR.sourceOfMeasurement, graphic, on.image),
      )
    : [];
  return [
    ...(chosen ? [code('HAS PROPERTIES', SR.selectionStatus, SR.mostRecentChosen)] : []),
    text('HAS PROPERTIES', SR.shortLabel, label),
    ...calipers,
  ];
}

function value(measurement: Measurement, items: readonly ContentItem[]): ContentItem {
  const quantity = exchange(measurement)(measurement.value);
  return num('CONTAINS', conceptOf(measurement), quantity, items);
}

/** TID 5301; of several values of one code exactly one is flagged: here the last that stands. */
function preCoordinated(measurements: readonly Measurement[], subject: Subject): ContentItem[] {
  const byCode = Map.groupBy(measurements, (measurement) => conceptOf(measurement).code);
  return [...byCode.values()].flatMap((values) =>
    values.map((measurement) => {
      const chosen = values.length > 1 ? measurement === values.at(-1) : null;
      return value(measurement, described(measurement, chosen, subject));
    }),
  );
}

/** Content tree of TID 5300 (PS3.16, PS3.17 CCCC): the values that stand, and no free rows. */
export function tid5300Tree(result: Result, subject: Subject): ContentItem {
  const standing = standingValues(accepted(result));
  const core = preCoordinated(
    standing.filter((measurement) => isCoreEchoCode(conceptOf(measurement))),
    subject,
  );
  const others = standing.flatMap((measurement) => {
    const modifiers = postCoordination(measurement.concept.key);
    return modifiers && !isCoreEchoCode(conceptOf(measurement))
      ? [value(measurement, [...modifiers, ...described(measurement, null, subject)])]
      : [];
  });
  return root(SR.adultEchoReport, '5300', [
    languageItem(),
    ...observerItems(result),
    ...(core.length > 0 ? [container(SR.preCoordinatedMeasurements, core, '5301')] : []),
    ...(others.length > 0 ? [container(SR.postCoordinatedMeasurements, others, '5302')] : []),
  ]);
}

/**
 * The adult echo report as a Simplified Adult Echo SR, TID 5300; as another class to be checked by
 * programs that do not know that one. A value without a code of CID 12300 or the modifiers of TID
 * 5302 stands in TID 1500 and 5200 alone.
 * @returns a DICOM Part 10 file; the same for the same result, subject and class.
 */
export function buildTid5300(
  result: Result,
  subject: Subject,
  sopClass: SrClass = 'simplifiedAdultEcho',
): Buffer {
  const tree = tid5300Tree(result, subject);
  return encode(srHeader(result, subject, { sopClass, role: 'sr-tid5300', number: 4, tree }), tree);
}
