import type { Routing } from '../../../../config/routing.ts';
import { headerInBytes, wantedAttributes } from '../../../../pipelines/dicom/bounded-header.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { HEADER_ATTRIBUTES, instanceHeader } from '../instance-header.ts';
import { NOT_LOOKED_AT } from '../submission.ts';
import { attributesOf, routingAttributePaths, valuesAt } from './attribute-values.ts';
import { type RuleVerdict, route } from './route.ts';

/** How a file would reach the gateway. */
interface FileRoute {
  source: string;
  callingAeTitle: string;
  calledAeTitle: string;
}

/** How the rules would treat a study consisting only of this file. */
export interface FileVerdicts {
  modality: string;
  studyDescription: string;
  sopClassUid: string;
  acting: string[];
  verdicts: RuleVerdict[];
  /** True if the image content, which is not examined here, would decide which rules act. */
  open: boolean;
}

const TOO_LONG = 'The header is too long for this check; send the file as a study instead.';

/**
 * Applies the rules to a DICOM file that was not received, using only its first bytes. Nothing is
 * stored.
 * @param whole true if these are all the bytes of the file.
 * @throws SonogateError `object_not_understood`.
 */
export function judgeFile(
  { start, whole }: { start: Buffer; whole: boolean },
  { source, callingAeTitle, calledAeTitle }: FileRoute,
  { routing, at }: { routing: Routing; at: Date },
): FileVerdicts {
  const paths = routingAttributePaths(routing);
  const named = wantedAttributes(attributesOf(paths));
  const dataSet = headerInBytes(start, whole, new Map([...HEADER_ATTRIBUTES, ...named]));
  if (!dataSet) throw new SonogateError('object_not_understood', TOO_LONG);
  const { modality, identity, procedureCodes, sopClassUid } = instanceHeader(dataSet);
  const judged = route(routing, {
    known: {
      source: present(source),
      callingAeTitle: present(callingAeTitle),
      calledAeTitle: present(calledAeTitle),
      modality: present(modality),
      studyDescription: present(identity.StudyDescription),
      procedureCode: procedureCodes,
      sopClass: [sopClassUid],
    },
    attributes: new Map(paths.map((path) => [path, valuesAt(dataSet, path)])),
    at,
    content: NOT_LOOKED_AT,
  });
  return {
    modality,
    studyDescription: identity.StudyDescription,
    sopClassUid,
    acting: judged.acting.map(({ name }) => name),
    verdicts: judged.verdicts,
    open: judged.open,
  };
}

const present = (value: string): string[] => (value === '' ? [] : [value]);
