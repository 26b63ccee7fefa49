{{- define "etagere.name" -}}
{{- $both := printf "%s-%s" .Release.Name .Chart.Name }}
{{- ternary .Release.Name $both (contains .Chart.Name .Release.Name) | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "etagere.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "etagere.labels" -}}
{{ include "etagere.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "etagere.secret" -}}
{{- if .Values.existingSecret }}{{ .Values.existingSecret }}{{ else if .Values.secret }}{{ include "etagere.name" . }}{{ end }}
{{- end }}

{{- /* "true" if the server may have a token for the admin listener. What an existing secret contains is
unknown here. */ -}}
{{- define "etagere.mayHaveToken" -}}
{{- $may := or .Values.existingSecret (hasKey (default dict .Values.secret) "ETAGERE_ADMIN_TOKEN") }}
{{- range .Values.extraEnv }}
{{- $may = or $may (eq .name "ETAGERE_ADMIN_TOKEN") }}
{{- end }}
{{- range .Values.extraArgs }}
{{- $may = or $may (hasPrefix "--adminToken" .) }}
{{- end }}
{{- if $may }}true{{ end }}
{{- end }}

{{- define "etagere.ports" -}}
- { name: blob, port: 10000 }
- { name: queue, port: 10001 }
- { name: table, port: 10002 }
- { name: file, port: 10003 }
- { name: dfs, port: 10004 }
- { name: smb, port: 10445 }
{{- end }}

{{- define "etagere.pod" -}}
metadata:
  labels:
    {{- include "etagere.labels" . | nindent 4 }}
  {{- $hasOwnSecret := and .Values.secret (not .Values.existingSecret) }}
  {{- if or $hasOwnSecret .Values.podAnnotations }}
  annotations:
    {{- if $hasOwnSecret }}
    # Environment variables are read at the start: a change of the secret replaces the pods.
    checksum/secret: {{ toYaml .Values.secret | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  # Ten seconds for running requests, and some for the rest.
  terminationGracePeriodSeconds: 20
  automountServiceAccountToken: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- if .Values.shared.enabled }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "etagere.selector" . | nindent 10 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: etagere
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - etagere
        - --location=/data
        {{- if .Values.shared.enabled }}
        - {{ printf "--content=%s" (required "shared.content: the address of the bucket is missing" .Values.shared.content) | quote }}
        {{- end }}
        - --blobHost=0.0.0.0
        - --queueHost=0.0.0.0
        - --tableHost=0.0.0.0
        - --fileHost=0.0.0.0
        - --dfsHost=0.0.0.0
        - --smbHost=0.0.0.0
        {{- if .Values.metrics.enabled }}
        - --adminHost=0.0.0.0
        {{- end }}
        {{- if .Values.tls.secretName }}
        - --cert=/tls/tls.crt
        - --key=/tls/tls.key
        {{- end }}
        {{- range .Values.extraArgs }}
        - {{ . | quote }}
        {{- end }}
      {{- with include "etagere.secret" . }}
      envFrom:
        - secretRef:
            name: {{ . }}
      {{- end }}
      {{- with .Values.extraEnv }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- range include "etagere.ports" . | fromYamlArray }}
        - { name: {{ .name }}, containerPort: {{ .port }} }
        {{- end }}
        {{- if .Values.metrics.enabled }}
        - { name: admin, containerPort: 10010 }
        {{- end }}
      # The admin listener is open to the container alone unless metrics are enabled, so that probes
      # run inside. A database that does not respond makes a node unready, but does not end it.
      startupProbe:
        exec:
          command: [etagere, status, --ready, --location=/data]
        periodSeconds: 2
        timeoutSeconds: 10
        failureThreshold: 90
      readinessProbe:
        exec:
          command: [etagere, status, --ready, --location=/data]
        periodSeconds: 5
        timeoutSeconds: 10
      livenessProbe:
        exec:
          command: [etagere, status, --alive, --location=/data]
        periodSeconds: 15
        timeoutSeconds: 10
        failureThreshold: 4
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - { name: data, mountPath: /data }
        {{- if .Values.tls.secretName }}
        - { name: tls, mountPath: /tls, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- if or .Values.shared.enabled .Values.tls.secretName .Values.extraVolumes }}
  volumes:
    {{- if .Values.shared.enabled }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- if .Values.tls.secretName }}
    - name: tls
      secret:
        secretName: {{ .Values.tls.secretName }}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end }}
