export { Sonogate, type SonogateOptions, type Submission, type SubmitOptions } from './client.ts';
export type { RequestEvent } from './events.ts';
export type * from './generated.ts';
export { API_VERSION } from './generated.ts';
export { ApiError, NoAnswerError } from './transport.ts';
export type { LocalFile, UploadProgress } from './upload.ts';
export { verifyWebhook, WebhookError } from './webhooks.ts';
