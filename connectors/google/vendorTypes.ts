/**
 * Types of Google's answers, from packages that are generated from its discovery documents. The packages declare the
 * global namespace `gapi`. Only this file uses them; the other modules import the types from here.
 */
/// <reference types="@maxim_mazurok/gapi.client.drive-v3" />
/// <reference types="@maxim_mazurok/gapi.client.gmail-v1" />
/// <reference types="@maxim_mazurok/gapi.client.storage-v1" />
/// <reference types="@maxim_mazurok/gapi.client.cloudresourcemanager-v1" />

export type DriveAbout = gapi.client.drive.About;
export type DriveChange = gapi.client.drive.Change;
export type DriveChangeList = gapi.client.drive.ChangeList;
export type DriveFile = gapi.client.drive.File;
export type DriveFileList = gapi.client.drive.FileList;
export type DriveShortcut = NonNullable<DriveFile['shortcutDetails']>;
export type DriveStart = gapi.client.drive.StartPageToken;
export type DriveUser = gapi.client.drive.User;
export type SharedDrive = gapi.client.drive.Drive;
export type SharedDriveList = gapi.client.drive.DriveList;

export type GmailHeader = gapi.client.gmail.MessagePartHeader;
export type GmailHistory = gapi.client.gmail.History;
export type GmailHistoryEntry = gapi.client.gmail.HistoryMessageAdded;
export type GmailHistoryList = gapi.client.gmail.ListHistoryResponse;
export type GmailLabel = gapi.client.gmail.Label;
export type GmailLabelList = gapi.client.gmail.ListLabelsResponse;
export type GmailMessage = gapi.client.gmail.Message;
export type GmailMessageList = gapi.client.gmail.ListMessagesResponse;
export type GmailPart = gapi.client.gmail.MessagePart;
export type GmailProfile = gapi.client.gmail.Profile;
export type GmailThread = gapi.client.gmail.Thread;

export type CloudBucket = gapi.client.storage.Bucket;
export type CloudBucketList = gapi.client.storage.Buckets;
export type CloudObject = gapi.client.storage.Object;
export type CloudObjectList = gapi.client.storage.Objects;
export type CloudProject = gapi.client.cloudresourcemanager.Project;
export type CloudProjectList = gapi.client.cloudresourcemanager.ListProjectsResponse;
