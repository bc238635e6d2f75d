//! What is sent to a provider that speaks Anthropic Messages.

use expect_test::expect;
use haft_agent::wire::Format;
use serde_json::json;

use super::check;

#[test]
fn everything_can_be_said() {
    check(
        Format::Anthropic,
        json!({"signature": "EqQB"}),
        expect![[r#"
            POST /v1/messages
            {
              "model": "m-1",
              "max_tokens": 99,
              "messages": [
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "text",
                      "text": "look"
                    },
                    {
                      "type": "image",
                      "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": "YWJj"
                      }
                    },
                    {
                      "type": "text",
                      "text": "[attachment left out: z.zip, application/zip cannot be sent to this model]"
                    }
                  ]
                },
                {
                  "role": "assistant",
                  "content": [
                    {
                      "type": "thinking",
                      "thinking": "hm",
                      "signature": "EqQB"
                    },
                    {
                      "type": "text",
                      "text": "I look."
                    },
                    {
                      "type": "tool_use",
                      "id": "a_1",
                      "name": "read",
                      "input": {
                        "filePath": "x"
                      }
                    },
                    {
                      "type": "tool_use",
                      "id": "b",
                      "name": "read",
                      "input": {
                        "input": "{oops"
                      },
                      "cache_control": {
                        "type": "ephemeral"
                      }
                    }
                  ]
                },
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "tool_result",
                      "tool_use_id": "a_1",
                      "content": [
                        {
                          "type": "text",
                          "text": "an image"
                        },
                        {
                          "type": "image",
                          "source": {
                            "type": "base64",
                            "media_type": "image/png",
                            "data": "YWJj"
                          }
                        },
                        {
                          "type": "document",
                          "source": {
                            "type": "base64",
                            "media_type": "application/pdf",
                            "data": "YWJj"
                          }
                        }
                      ]
                    },
                    {
                      "type": "tool_result",
                      "tool_use_id": "b",
                      "content": [
                        {
                          "type": "text",
                          "text": "no"
                        }
                      ],
                      "is_error": true
                    },
                    {
                      "type": "text",
                      "text": "go on",
                      "cache_control": {
                        "type": "ephemeral"
                      }
                    }
                  ]
                }
              ],
              "stream": true,
              "system": [
                {
                  "type": "text",
                  "text": "Be brief.",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ],
              "tools": [
                {
                  "name": "read",
                  "description": "Reads.",
                  "input_schema": {
                    "type": "object",
                    "properties": {
                      "filePath": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "filePath"
                    ],
                    "additionalProperties": false
                  },
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ],
              "temperature": 0.5,
              "x_own": 1
            }"#]],
    );
}
