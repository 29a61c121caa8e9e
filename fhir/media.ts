import type { Media } from '@medplum/fhirtypes';
import { imageAttachment } from './attachment.ts';
import { AI_ASSERTED, MEDIA_IMAGE } from './codes.ts';
import { resourceUrn, resultIdentifier } from './identifiers.ts';
import type { KeyImage, ReportContext } from './report-context.ts';

/** Role of a key image in the request: its artifact name. */
export function mediaRole({ name }: KeyImage): string {
  return `Media/${name}`;
}

/** A measured frame with its calipers. */
export function buildMedia(context: ReportContext, image: KeyImage): Media {
  return {
    resourceType: 'Media',
    meta: { security: [AI_ASSERTED] },
    identifier: [resultIdentifier(context.resultSystem, context.reportKey, mediaRole(image))],
    basedOn: context.order ? [context.order] : undefined,
    partOf: context.imagingStudy ? [context.imagingStudy] : undefined,
    status: 'completed',
    type: MEDIA_IMAGE,
    subject: context.patient,
    encounter: context.encounter,
    createdDateTime: context.effective,
    issued: context.result.generated_at,
    device: context.device,
    content: imageAttachment(context, image),
    note: [{ text: 'Calipers of an unverified AI draft' }],
  };
}

/** `DiagnosticReport.media`: R4 allows only Media as the target. */
export function mediaLinks({ keyImages = [], requestId }: ReportContext) {
  return keyImages.map((image) => ({
    comment: image.title,
    link: { reference: resourceUrn(requestId, mediaRole(image)) },
  }));
}
